"""The mutants of `reliability.mutants`: changes that are one each, drawn the same every time."""

import ast
from collections import Counter

import pytest

from benchmarks.table import ResultTable
from reliability.mirror import PACKAGE, ROOT
from reliability.mutants import COLUMNS, EQUIVALENT, PER_ROOM, ROOMS, compare, draw

pytestmark = pytest.mark.skipif(not (ROOT / PACKAGE).is_dir(), reason="the sources are not here")


@pytest.fixture(scope="module")
def drawn():
    return draw()


def test_mutants_are_the_same_every_time_as_many_from_each_room(drawn):
    assert [mutant.name for mutant in draw()] == [mutant.name for mutant in drawn]
    assert Counter(mutant.room for mutant in drawn) == dict.fromkeys(ROOMS, PER_ROOM)
    assert len({mutant.name for mutant in drawn}) == len(drawn) >= 60


def test_a_mutant_is_a_program_that_differs_in_one_place(drawn):
    for mutant in drawn:
        ast.parse(mutant.source)
        line = int(mutant.change.split(".")[0])
        package = mutant.file.read_bytes()
        assert mutant.source != package
        before, after = package.splitlines(), mutant.source.splitlines()
        assert before[: line - 1] == after[: line - 1]
        assert mutant.source.endswith(package[-200:]) or line > len(before) - 20


def test_what_nobody_can_notice_has_a_reason(drawn):
    """By names of the code that the committed rows are about; later code has other lines."""
    files = {mutant.path for mutant in drawn} | {path for place in ROOMS.values() for path in place}
    for name, reason in EQUIVALENT.items():
        path, line, change = name.split(":", 2)
        assert path in files or path.split("/")[0] in files
        assert float(line) > 0
        assert " -> " in change
        assert reason


def test_a_suite_that_lost_a_mutant_is_told(tmp_path, capsys):
    table = ResultTable(tmp_path / "mutants.csv", COLUMNS, ("suite", "mutant"))
    row = dict.fromkeys(COLUMNS, "") | {"suite": "old", "mutant": "a", "verdict": "noticed"}
    table.replace([row | {"tier": "test"}])
    assert compare("old", "new", table) == 1
    table.replace([row | {"suite": "new", "tier": "slow"}])
    assert compare("old", "new", table) == 1  # `make test` alone misses it
    table.replace([row | {"suite": "new", "tier": "test"}])
    assert compare("old", "new", table) == 0
    assert "100.0% of what old noticed" in capsys.readouterr().out
