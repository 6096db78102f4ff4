"""The pages of the API are complete: what goes in, what comes out, what is refused, an example.

Examples are run, as doctests of their modules.  The rooms below are for users; those of solvers
and rows are for who extends the package, and have the recipes of "Extend".
"""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("numpydoc")
pytest.importorskip("sphinx")
from numpydoc.docscrape import FunctionDoc

DOCS = Path(__file__).parents[2] / "docs"
FOR_USERS = (
    *("sphericalpca", "sphericalpca.evaluation", "sphericalpca.export"),
    *("sphericalpca.transforming", "sphericalpca.plotting", "sphericalpca.datasets"),
    *("sphericalpca.metrics", "sphericalpca.certificate", "sphericalpca.convergence"),
)


def public_names():
    import sys  # noqa: PLC0415

    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module("extensions.public").public_names()
    finally:
        sys.path.remove(str(DOCS))


def is_ours(method):
    """Not made by scikit-learn."""
    return getattr(inspect.unwrap(method), "__module__", "").startswith("sphericalpca")


def is_method(member):
    """Not a cached property, which is a routine for Python 3.13."""
    return inspect.isfunction(member) or inspect.ismethod(member)


THINGS = [
    getattr(importlib.import_module(room), name)
    for room, names in public_names().items()
    if room in FOR_USERS
    for name in names
]
FUNCTIONS = [thing for thing in THINGS if inspect.isfunction(thing)]
ENTRANCES = [thing for thing in THINGS if hasattr(thing, "fit") or "Display" in thing.__name__]
METHODS = [
    method
    for thing in THINGS
    if isinstance(thing, type)
    for name, method in inspect.getmembers(thing, is_method)
    if not name.startswith("_") and is_ours(method)
]


def section(thing, name):
    return FunctionDoc(inspect.unwrap(thing))[name]


def own_raises(function):
    """What a function raises in its own text; what it calls has tests of its own."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    return {call.func.id for call in calls if isinstance(call, ast.Call)}


def name_of(thing):
    return thing.__qualname__


@pytest.mark.parametrize("function", [*FUNCTIONS, *METHODS], ids=name_of)
def test_all_that_goes_in_and_comes_out_is_told(function):
    signature = inspect.signature(function)
    told = {one.strip() for entry in section(function, "Parameters") for one in entry[0].split(",")}
    wanted = {name for name in signature.parameters if name not in {"self", "cls"}}
    assert {name.lstrip("*") for name in told} == wanted
    if signature.return_annotation not in {"None", None}:
        assert section(function, "Returns") or section(function, "Yields")


@pytest.mark.parametrize("function", [*FUNCTIONS, *METHODS], ids=name_of)
def test_all_errors_that_a_function_raises_are_told(function):
    told = {entry.type for entry in section(function, "Raises")}
    assert own_raises(function) <= told


@pytest.mark.parametrize("thing", [*FUNCTIONS, *ENTRANCES], ids=name_of)
def test_there_is_an_example(thing):
    assert ">>> " in inspect.getdoc(thing)
    assert "SKIP" not in inspect.getdoc(thing)


def test_the_rooms_for_users_are_there():
    assert set(FOR_USERS) <= set(public_names())
    assert len(FUNCTIONS) > 30
