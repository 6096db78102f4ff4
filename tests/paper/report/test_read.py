"""Files are read as they are, or refused with a reason."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from paper.report.read import read_results
from sphericalpca.exceptions import DataError


def test_all_four_files_are_read_as_they_were_measured(
    folder, rows, convergence, solver_runs, toy_points
):
    results = read_results(folder)
    read = (results.convergence, results.solvers, results.toy)
    for frame, written in zip(read, (convergence, solver_runs, toy_points), strict=True):
        assert frame.shape == written.shape
    written = rows.assign(note=rows["note"].where(rows["note"] != ""))
    assert_frame_equal(results.rows, written, check_dtype=False)
    assert all(isinstance(groups, str) for groups in results.rows["groups"])
    assert results.made_with == [rows["made_with"].iloc[0]]
    assert results.stand_ins == []


def test_any_file_may_be_missing_and_stand_ins_are_named(
    tmp_path, write_rows, toy_points, stand_in_rows
):
    results = read_results(write_rows(tmp_path, toy=toy_points))
    assert len(results.toy) == 200
    assert results.rows.empty
    assert results.solvers.empty
    results = read_results(write_rows(tmp_path, stand_in_rows))
    assert results.stand_ins == ["docstrings", "iris", "wine", "breast-cancer", "digits"]


@pytest.mark.parametrize("content", [None, "", "header"])
def test_nothing_to_report(tmp_path, rows, content):
    if content is not None:
        text = rows.head(0).to_csv(index=False) if content else ""
        (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(DataError, match="nothing to report"):
        read_results(tmp_path)


def test_a_torn_last_line_is_no_measurement(tmp_path, write_rows, rows):
    """Cut anywhere in its last line, as by a kill in the middle of a write."""
    part = rows.head(4)
    path = write_rows(tmp_path, part) / "rows.csv"
    whole = path.read_bytes()
    start = whole[:-1].rfind(b"\n") + 1
    others = read_results(write_rows(tmp_path / "others", part.head(3))).rows
    for end in (start, start + 1, (start + len(whole)) // 2, len(whole) - 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        assert_frame_equal(read_results(tmp_path).rows, others)


def test_of_a_clustering_measured_twice_the_last_counts(tmp_path, write_rows, rows):
    again = rows.iloc[[7]].assign(accuracy=0.5, seed=99)
    write_rows(tmp_path, pd.concat([rows.head(20), again]))
    read = read_results(tmp_path).rows
    assert len(read) == 20
    assert read.loc[read["repetition"] == 7, ["accuracy", "seed"]].to_numpy().tolist() == [
        [0.5, 99]
    ]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda rows: rows.drop(columns=["ari"]), "not a rows file of this version"),
        (lambda rows: rows.assign(seconds="fast"), r"seconds that is not a number.*fast"),
        (lambda rows: rows.assign(method="t-sne"), "t-sne"),
        (lambda rows: rows.assign(nmi_max=62.1), r"nmi_max 62\.1"),
    ],
)
def test_rows_that_are_none_are_refused(tmp_path, write_rows, rows, spoil, reason):
    with pytest.raises(DataError, match=reason):
        read_results(write_rows(tmp_path, spoil(rows.head(3))))


def test_missing_columns_are_named(tmp_path, write_rows, toy_points):
    write_rows(tmp_path, toy=toy_points.drop(columns=["group", "v1"]))
    with pytest.raises(DataError, match=r"no column group, v1"):
        read_results(tmp_path)
