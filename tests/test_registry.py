"""The registry of solvers says what their classes are."""

import re
from pathlib import Path

import pytest

from sphericalpca import solvers
from sphericalpca.iterate import Resumable
from sphericalpca.registry.formats import joined
from sphericalpca.registry.solvers import SOLVERS


@pytest.mark.parametrize("name", SOLVERS)
def test_an_entry_is_that_of_its_class(name):
    entry = SOLVERS[name]
    kind = entry.load()
    assert entry.name == name == entry.class_name.lower()
    assert kind.__name__ == entry.class_name
    assert getattr(solvers, entry.class_name) is kind
    assert isinstance(kind(), Resumable) == entry.resumable
    assert entry.summary
    assert not entry.summary.endswith(".")


def test_classes_that_are_not_registered_are_unknown():
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        solvers.Nonsense  # noqa: B018


def test_the_guide_has_a_row_for_each():
    guide = Path(__file__).parents[1] / "docs" / "guide" / "solvers.rst"
    row = re.compile(r"^   \* - ``\"(\w+)\"``\n     - (.*)$", re.MULTILINE)
    rows = row.findall(guide.read_text("utf-8"))
    assert rows == [(name, entry.summary) for name, entry in SOLVERS.items()]


def test_names_are_joined_as_in_a_sentence():
    assert [joined("abc"[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert joined("ab", "or") == "a or b"
