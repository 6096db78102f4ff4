"""Self-contained HTML pages: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from types import MappingProxyType
from typing import Any

from sphericalpca.pages.pictures import Picture
from sphericalpca.pages.tables import Table

__all__ = ["UNSOUND", "render", "sound", "template_text"]

# Invalid in HTML: control characters, unpaired surrogates, non-characters.
UNSOUND = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def render(
    package: str,
    template: str,
    *,
    pictures: Mapping[str, Picture] = MappingProxyType({}),
    tables: Mapping[str, Table] = MappingProxyType({}),
    scripts: Mapping[str, str] | None = None,
    finalize: Callable[[Any], Any] | None = None,
    **shown: Any,
) -> str:
    """The page as text, from a template of `package` that extends "document.html.j2".

    Only the given scripts and that of the theme button may run; `finalize` typesets values.
    """
    import jinja2  # noqa: PLC0415 - an optional package
    from markupsafe import Markup  # noqa: PLC0415

    own = jinja2.PackageLoader(__package__)
    scripts = {"theme.js": template_text(__package__, "theme.js"), **(scripts or {})}
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package), own]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalize or _typeset,
        keep_trailing_newline=True,
    )
    page = environment.get_template(template).render(
        **shown,
        pictures=pictures,
        panels={name: [Markup(svg) for svg in p.inline()] for name, p in pictures.items()},
        tables=tables,
        style=Markup(template_text(__package__, "style.css")),
        scripts={name: Markup(text) for name, text in scripts.items()},
        policy=Markup(_policy(scripts.values())),
    )
    return str(page)


def template_text(package: str, name: str) -> str:
    """A file in the folder of templates of a package."""
    return (resources.files(package) / "templates" / name).read_text(encoding="utf-8")


def _policy(scripts: Iterable[str]) -> str:
    """A policy that loads nothing and runs only the scripts of the page."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def sound(text: str) -> str:
    """Replace characters that are invalid in HTML."""
    return UNSOUND.sub("\N{REPLACEMENT CHARACTER}", text)


def _typeset(value: Any) -> Any:
    """Keep a number and its percent sign in one line; markup is unchanged."""
    return sound(value).replace(" %", "\N{NO-BREAK SPACE}%") if type(value) is str else value
