"""The pages of the API, written from the package itself: each public class and function once."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sklearn.base import BaseEstimator
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

__all__ = ["public_names", "setup"]

# For users, in the order of the pages; all other rooms are internals.
USE = (
    *("sphericalpca", "sphericalpca.estimators", "sphericalpca.codec", "sphericalpca.dimensions"),
    *("sphericalpca.evaluation", "sphericalpca.export", "sphericalpca.transforming"),
    *("sphericalpca.plotting", "sphericalpca.datasets", "sphericalpca.metrics"),
    *("sphericalpca.certificate", "sphericalpca.convergence", "sphericalpca.solvers"),
)
# Without a page.  Commands have one of their own.
HIDDEN = (
    *("__main__", "baselines", "cli", "curvature", "exceptions", "files", "kernels", "linalg"),
    *("modelfile", "pages", "parallel", "registry", "system", "version", "writing"),
)

# Where short names on the other pages live: `open_rows`, `truncate`.
HOMES = ("sphericalpca", "sphericalpca.SphericalPCA")

PAGE = """\
{title}
{rule}

.. automodule:: {module}
   :no-members:

.. currentmodule:: {module}

.. autosummary::
   :toctree: names

   {names}
"""

INDEX = """\
API
===

Use
---

The first page lists what ``import sphericalpca`` provides. Import the other modules explicitly,
for example ``from sphericalpca.solvers import Newton``.

{use}

.. toctree::
   :hidden:
   :caption: Use

   {use_pages}

Internals
---------

The parts that the estimators are built from, for :doc:`extensions </extend/index>`. They may
change in any release.

{internals}

.. toctree::
   :hidden:
   :caption: Internals

   {internals_pages}
"""

COMMANDS = """\
Commands
========

The program ``sphericalpca`` comes with the extra ``cli``: ``pip install 'sphericalpca[cli]'``.

{commands}
"""


def public_names() -> dict[str, list[str]]:
    """The classes and functions of every room, without those that an earlier page has shown."""
    shown: set[int] = set()
    found = {}
    for room in _rooms():
        module = importlib.import_module(room)
        names = [name for name in module.__all__ if _is_new(getattr(module, name), shown)]
        names.sort(key=lambda name: _rank(name, getattr(module, name)))
        shown |= {id(getattr(module, name)) for name in names}
        if names:
            found[room] = names
    return found


def _rank(name: str, thing: object) -> int:
    """The method, the other estimators, functions, and what they return."""
    if isinstance(thing, type) and issubclass(thing, BaseEstimator):
        return 0 if name == "SphericalPCA" else 1
    return 2 if inspect.isfunction(thing) else 3


def _is_new(thing: object, shown: set[int]) -> bool:
    """Whether it has not been shown; numbers, tables and names for types never are."""
    return id(thing) not in shown and (isinstance(thing, type) or inspect.isroutine(thing))


def _rooms() -> list[str]:
    rooms = pkgutil.iter_modules(importlib.import_module("sphericalpca").__path__)
    found = ["sphericalpca", *(f"sphericalpca.{room.name}" for room in rooms)]
    hidden = {f"sphericalpca.{name}" for name in HIDDEN}
    wanted = [room for room in found if room not in hidden]
    return sorted(wanted, key=lambda room: USE.index(room) if room in USE else len(USE))


def _commands() -> Iterator[str]:
    """The help of every command, as it would be printed."""
    import click  # noqa: PLC0415 - an optional package

    from sphericalpca.cli.app import COMMANDS as NAMES  # noqa: PLC0415
    from sphericalpca.cli.app import app as program  # noqa: PLC0415

    top = click.Context(program, info_name="sphericalpca", **program.context_settings)
    for name in NAMES:
        command = program.get_command(top, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=top, max_content_width=84)
        text = command.get_help(context).replace("\n", "\n   ")
        title = f"sphericalpca {name}"
        yield f"{title}\n{'-' * len(title)}\n\n.. code-block:: text\n\n   {text}\n"


def _summary(module: str) -> str:
    """The first sentence of a module's docstring."""
    text = inspect.getdoc(importlib.import_module(module)) or ""
    return " ".join(text.partition("\n\n")[0].split())


def _write(path: Path, text: str) -> None:
    """Leave a file alone that is right already: Sphinx reads anew what is new."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _forget_others(folder: Path, known: dict[str, list[str]]) -> None:
    """Remove what an earlier build has written for names that are gone."""
    full = {f"{module}.{name}" for module, names in known.items() for name in names}
    for stale in {path for path in folder.glob("names/*.rst") if path.stem not in full}:
        stale.unlink()
    for stale in {path for path in folder.glob("sphericalpca*.rst") if path.stem not in known}:
        stale.unlink()


def write_pages(app: Sphinx, _config: Config) -> None:
    """Write the pages into ``api/``, before Sphinx looks for sources."""
    folder = Path(app.srcdir) / "api"
    known = public_names()
    _forget_others(folder, known)
    for module, names in known.items():
        title = f"``{module}``"
        page = PAGE.format(
            title=title, rule="=" * len(title), module=module, names="\n   ".join(names)
        )
        _write(folder / f"{module}.rst", page)
    _write(folder / "commands.rst", COMMANDS.format(commands="\n".join(_commands())))
    _write(folder / "index.rst", _index(list(known)))


def _index(modules: list[str]) -> str:
    """The list of all pages: those for users, the commands, and internals."""
    use = [module for module in modules if module in USE]
    internals = [module for module in modules if module not in USE]
    commands = ":doc:`commands`\n   The program ``sphericalpca``, with all its options."
    return INDEX.format(
        use="\n".join([*map(_entry, use), commands]),
        use_pages="\n   ".join([*map(_link, use), "commands"]),
        internals="\n".join(map(_entry, internals)),
        internals_pages="\n   ".join(map(_link, internals)),
    )


def _link(module: str) -> str:
    """A page under its short name: long ones do not fit beside the text."""
    return f"{module.removeprefix('sphericalpca.')} <{module}>"


def _entry(module: str) -> str:
    return f":doc:`{_link(module)}`\n   {_summary(module)}"


def escape_underscores(
    _app: Sphinx, _what: str, _name: str, _thing: object, _options: Any, lines: list[str]
) -> None:
    """``n_iter_,`` in the type of an attribute is a name, and no link as Sphinx would have it."""
    for number, line in enumerate(lines):
        pieces = line.split("`")  # every second one is code
        pieces[::2] = [re.sub(r"(?<=\w)_(?=[,)])", r"\\_", piece) for piece in pieces[::2]]
        lines[number] = "`".join(pieces)


def skip_routing(
    _app: Sphinx, _what: str, name: str, _thing: object, skip: bool, _options: Any
) -> bool:
    """Methods that scikit-learn makes, for which its own documentation is the place."""
    made = r"set_\w+_request|set_output|[gs]et_params|get_metadata_routing"
    return skip or re.fullmatch(made, name) is not None


def link_short_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.TextElement
) -> nodes.reference | None:
    """A link to a name of the package that a page calls by its last part."""
    if node.get("reftype") != "obj" or node["refdoc"].startswith("api/"):
        return None
    names: Any = env.get_domain("py")
    for full in (f"{home}.{node['reftarget']}" for home in HOMES):
        if full in names.objects:
            place = names.objects[full]
            return make_refnode(
                app.builder, node["refdoc"], place.docname, place.node_id, shown, full
            )
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages early: what is there when Sphinx looks is what autosummary reads."""
    app.connect("config-inited", write_pages)
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("missing-reference", link_short_name)
    app.connect("autodoc-process-docstring", escape_underscores, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
