"""Tables: whole words on terminals of any width, and all of it elsewhere."""

from __future__ import annotations

import io
import itertools
import re

import pytest
from rich.console import Console

from sphericalpca.cli.tables import print_table

pytest.importorskip("safetensors")


@pytest.fixture
def terminal(monkeypatch):
    """Makes the console a terminal of some width, and returns what was printed."""
    real = Console

    def pretend(width):
        sent = io.StringIO()
        monkeypatch.setattr(
            "rich.console.Console",
            lambda **options: real(file=sent, force_terminal=True, width=width, **options),
        )

        def shown(*, plain=True):
            return re.sub(r"\x1b\[[0-9;]*m", "", sent.getvalue()) if plain else sent.getvalue()

        return shown

    return pretend


ROWS = [["a [bold]b[/bold]", "1"], ["c" * 150, "22"]]


def test_piped_tables_lose_nothing(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    print_table(["name", "n"], ROWS, numbers=["n"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["name", *(name for name, _ in ROWS)]
    assert [line[-2:] for line in lines] == [" n", " 1", "22"]
    assert {len(line) for line in lines} == {154}
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize("columns", [60, 200])
def test_tables_on_a_terminal_lose_nothing_either(terminal, columns):
    shown = terminal(columns)
    print_table(["name", "n"], ROWS, numbers=["n"])
    assert "\x1b[1mname" in shown(plain=False), "headers are bold"
    assert "a [bold]b[/bold]" in shown()
    assert shown().count("c") == 150
    assert max(map(len, shown().splitlines())) <= columns


HEADER = ("", "dimensions", "mean cosine", "95 % interval", "index", "what it is")
CELLS = [
    ["*", "1,024", "0.9171", "0.695 to 0.751", "3.71 GB", "as the crow flies over the hills"],
    ["", "64", "1.0000", "0.962 to 1.000", "742 kB", "embedding-like (made up)"],
]
SPARE = ("index", "mean cosine")


def _words(text):
    return set(re.sub(r"[\u2500-]{1,}(?=\s|$)", " ", text).split())


@pytest.mark.parametrize("width", [16, 40, 60, 70, 80, 120])
def test_words_and_numbers_are_whole_at_any_width(terminal, width):
    shown = terminal(width)
    print_table(HEADER, CELLS, numbers=HEADER[1:-1], spare=SPARE)
    text, _, note = shown().partition("Columns left out because the terminal is narrow: ")
    known = _words(" ".join(itertools.chain(HEADER, *CELLS)))
    # Stacked, a name is followed by a colon.
    found = {word.removesuffix(":") for word in _words(text)}
    assert found <= known
    assert width < 60 or "0.695 to 0.751" in text, "numbers are never wrapped"
    for column, cells in zip(HEADER, zip(*CELLS, strict=True), strict=True):
        if column not in " ".join(note.split()):
            assert _words(" ".join(cells)) <= found
    assert all(len(line.rstrip()) <= width for line in text.splitlines())


def test_terminals_without_the_signs_get_a_plain_rule(terminal, monkeypatch):
    shown = terminal(60)
    monkeypatch.setattr(Console, "encoding", "ascii")
    print_table(["name", "n"], [["a", "1"]])
    assert shown().isascii()
