"""The list of telltale phrases finds them, and the repository has none."""

from __future__ import annotations

import pytest

from reliability import phrases


@pytest.mark.parametrize(
    ("text", "line"),
    [("rows\nat most so many rows", 2), ("waits for\n# ever", 1), ("Without a word it ends", 1)],
)
def test_a_phrase_is_found_with_its_line(text, line):
    ((where, _, remedy),) = phrases.found(text)
    assert where == line
    assert remedy


def test_plain_english_passes_and_so_does_the_repository(capsys):
    assert not list(phrases.found("so many that memory ends; this many rows; forever"))
    assert phrases.main() == 0, capsys.readouterr().out
