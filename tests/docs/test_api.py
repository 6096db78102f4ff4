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
    *("sphericalpca", "sphericalpca.codec", "sphericalpca.evaluation", "sphericalpca.export"),
    *("sphericalpca.transforming", "sphericalpca.plotting", "sphericalpca.datasets"),
    *("sphericalpca.metrics", "sphericalpca.certificate", "sphericalpca.convergence"),
)


@pytest.fixture(scope="module")
def things():
    """All that the rooms for users export."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        names = importlib.import_module("extensions.public").public_names()
    return [
        getattr(importlib.import_module(room), name) for room in FOR_USERS for name in names[room]
    ]


def is_ours(method):
    """Not made by scikit-learn."""
    return getattr(inspect.unwrap(method), "__module__", "").startswith("sphericalpca")


def is_method(member):
    """Not a cached property, which is a routine for Python 3.13."""
    return inspect.isfunction(member) or inspect.ismethod(member)


def methods_of(things):
    return [
        method
        for thing in things
        if isinstance(thing, type)
        for name, method in inspect.getmembers(thing, is_method)
        if not name.startswith("_") and is_ours(method)
    ]


def own_raises(function):
    """The errors that a function itself raises; functions that it calls are tested separately."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    return {call.func.id for call in calls if isinstance(call, ast.Call)}


def test_all_that_goes_in_comes_out_or_is_raised_is_told(things):
    functions = [thing for thing in things if inspect.isfunction(thing)]
    assert len(functions) > 25
    for function in [*functions, *methods_of(things)]:
        doc, signature = FunctionDoc(inspect.unwrap(function)), inspect.signature(function)
        told = {one.strip() for entry in doc["Parameters"] for one in entry[0].split(",")}
        wanted = {name for name in signature.parameters if name not in {"self", "cls"}}
        assert {name.lstrip("*") for name in told} == wanted, function.__qualname__
        if signature.return_annotation not in {"None", None}:
            assert doc["Returns"] or doc["Yields"], function.__qualname__
        told = {entry.type for entry in doc["Raises"]}
        assert own_raises(function) <= told, function.__qualname__


def test_there_is_an_example(things):
    for thing in things:
        if inspect.isfunction(thing) or hasattr(thing, "fit") or "Display" in thing.__name__:
            assert ">>> " in inspect.getdoc(thing), thing.__qualname__
            assert "SKIP" not in inspect.getdoc(thing), thing.__qualname__
