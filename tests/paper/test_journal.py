"""Rows survive whatever happens to the process that writes them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from paper.journal import COLUMNS, Journal, alone_in, identity, write_table
from sphericalpca import DataError


def row(repetition=0, **given):
    known = dict.fromkeys(COLUMNS, "")
    known.update(experiment="uci", dataset="glass", groups="6", variant="unit", method="pca", r=6)
    return {**known, "repetition": repetition, **given}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.csv"


def test_rows_come_back_as_they_went_in(path):
    journal = Journal(path)
    journal.add([row(0, accuracy=0.25, parameters='{"a": "b, c"}', note="two\nlines")])
    journal.add([row(1, accuracy=1 / 3, svd_ratio=float("nan"), iterations=None)])
    again = Journal(path)
    assert again.rows == journal.rows
    first, second = again.rows.values()
    assert first["parameters"] == '{"a": "b, c"}'
    assert float(second["accuracy"]) == pytest.approx(1 / 3, rel=1e-6)
    assert second["svd_ratio"] == second["iterations"] == ""


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_torn_last_line_costs_only_that_line(path, cut):
    Journal(path).add([row(0), row(1)])
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    journal = Journal(path)
    assert list(journal.rows) == [identity(row(0))]
    journal.rewrite()
    journal.add([row(1)])
    assert path.read_bytes() == whole


def test_an_empty_file_and_a_lone_header_hold_no_rows(path):
    path.touch()
    assert Journal(path).rows == {}
    journal = Journal(path)
    journal.rewrite()
    journal.add([row()])
    assert list(Journal(path).rows) == [identity(row())]


def test_a_row_measured_again_replaces_the_old_one(path):
    journal = Journal(path)
    journal.add([row(0, accuracy=0.1)])
    journal.add([row(0, accuracy=0.2)])
    assert [r["accuracy"] for r in Journal(path).rows.values()] == ["0.2"]


def test_rewriting_orders_and_keeps_strangers_last(path):
    journal = Journal(path)
    journal.add([row(2), row(9), row(0), row(1)])
    journal.rewrite([identity(row(i)) for i in (0, 1, 2)])
    assert [r["repetition"] for r in Journal(path).rows.values()] == ["0", "1", "2", "9"]


def test_a_file_of_another_kind_is_left_alone(path):
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"rows\.csv is not a rows file"):
        Journal(path)
    assert path.read_text() == "a,b\n1,2\n"


def test_write_table_replaces_whole_files_only(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    write_table(path, [{"a": 1, "b": 0.5}, {"a": 2, "b": None}])
    assert path.read_text() == "a,b\n1,0.5\n2,\n"

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="No space"):
        write_table(path, [{"a": 3, "b": 4}])
    assert [p.name for p in tmp_path.iterdir()] == ["table.csv"]
    assert path.read_text() == "a,b\n1,0.5\n2,\n"


def test_two_runs_do_not_share_a_folder(tmp_path):
    pytest.importorskip("fcntl")
    with (
        alone_in(tmp_path),
        pytest.raises(DataError, match="Another run is writing"),
        alone_in(tmp_path),
    ):
        pass
    with alone_in(tmp_path):
        pass


def test_every_row_that_add_returned_for_survives_kill_9(path):
    """A writer is killed in full flight; what it had acknowledged is there, and whole."""
    program = textwrap.dedent("""
        import sys
        from pathlib import Path
        from paper.journal import COLUMNS, Journal
        journal = Journal(Path(sys.argv[1]))
        for i in range(10**6):
            journal.add([dict.fromkeys(COLUMNS, "x") | {"repetition": i, "note": "y" * 4000}])
            print(i, flush=True)
    """)
    writer = subprocess.Popen(
        [sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True
    )
    for _ in range(20):
        acknowledged = int(writer.stdout.readline())
    os.kill(writer.pid, 9)
    acknowledged = max([acknowledged, *map(int, writer.stdout.read().split())])
    writer.wait()
    writer.stdout.close()
    kept = [int(r["repetition"]) for r in Journal(path).rows.values()]
    assert kept[: acknowledged + 1] == list(range(acknowledged + 1))
    assert all(r["note"] == "y" * 4000 for r in Journal(path).rows.values())
