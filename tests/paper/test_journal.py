"""Rows survive any interruption of the process that writes them."""

from __future__ import annotations

import pytest

from paper.journal import COLUMNS, FORMER_COLUMNS, Journal, alone_in, identity, write_table
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


@pytest.mark.parametrize("cut", [1, 2, 13, 37])
def test_a_torn_last_line_costs_only_that_line(path, cut):
    path.touch()
    assert Journal(path).rows == {}
    Journal(path).rewrite()
    Journal(path).add([row(0), row(1)])
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    journal = Journal(path)
    assert list(journal.rows) == [identity(row(0))]
    journal.rewrite()
    journal.add([row(1)])
    assert path.read_bytes() == whole


def test_rewriting_orders_and_a_row_measured_again_replaces_the_old_one(path):
    journal = Journal(path)
    journal.add([row(2), row(9), row(0, accuracy=0.1), row(1)])
    journal.add([row(0, accuracy=0.2)])
    journal.rewrite([identity(row(i)) for i in (0, 1, 2)])
    found = list(Journal(path).rows.values())
    assert [r["repetition"] for r in found] == ["0", "1", "2", "9"], "strangers last"
    assert found[0]["accuracy"] == "0.2"


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


def test_rows_of_version_0_1_are_read_and_rewritten(path):
    former = {**row(0, accuracy="0.5"), "versions": "numpy 2"}
    text = ",".join(FORMER_COLUMNS) + "\n" + ",".join(str(former[n]) for n in FORMER_COLUMNS) + "\n"
    path.write_text(text)
    journal = Journal(path)
    (read,) = journal.rows.values()
    assert (read["clusterings"], read["accuracy_sd"]) == ("1", "")
    assert (read["made_with"], read["accuracy"]) == ("numpy 2", "0.5")
    journal.rewrite()
    assert path.read_text().startswith(",".join(COLUMNS) + "\n")
    assert Journal(path).rows == journal.rows
