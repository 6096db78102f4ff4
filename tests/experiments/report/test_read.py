"""Files are read as they are, or refused with a reason."""

import pandas as pd
import pytest

from sphericalpca.exceptions import DataError
from sphericalpca.experiments.report.read import read_results


def test_all_four_files(folder, rows, convergence, solver_runs, toy_points):
    results = read_results(folder)
    read = (results.rows, results.convergence, results.solvers, results.toy)
    for frame, written in zip(read, (rows, convergence, solver_runs, toy_points), strict=True):
        assert frame.shape == written.shape
    assert results.rows["groups"].isin({"5 named", "5", "10", "15", "20", "4", "2", "6"}).all()
    assert results.versions == [rows["versions"].iloc[0]]
    assert results.stand_ins == []


def test_any_file_may_be_missing(tmp_path, write_rows, toy_points):
    results = read_results(write_rows(tmp_path, toy=toy_points))
    assert len(results.toy) == 200
    assert results.rows.empty
    assert results.solvers.empty


def test_stand_ins_are_named(tmp_path, write_rows, stand_in_rows):
    results = read_results(write_rows(tmp_path, stand_in_rows))
    assert results.stand_ins == ["docstrings", "iris", "wine", "breast-cancer", "digits"]


@pytest.mark.parametrize("content", [None, "", "header"])
def test_nothing_to_report(tmp_path, rows, content):
    if content is not None:
        text = rows.head(0).to_csv(index=False) if content else ""
        (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(DataError, match="nothing to report"):
        read_results(tmp_path)


def test_missing_column_is_named(tmp_path, write_rows, rows):
    write_rows(tmp_path, rows.drop(columns=["ari", "seconds"]))
    with pytest.raises(DataError, match=r"no column ari, seconds"):
        read_results(tmp_path)


def test_unknown_method_is_named(tmp_path, write_rows, rows):
    write_rows(tmp_path, rows.head(3).assign(method="t-sne"))
    with pytest.raises(DataError, match="t-sne"):
        read_results(tmp_path)


def test_no_clustering_twice(tmp_path, write_rows, rows):
    write_rows(tmp_path, pd.concat([rows.head(20), rows.iloc[[7]].assign(accuracy=0.5, seed=99)]))
    with pytest.raises(DataError, match=r"repetition 7.* twice"):
        read_results(tmp_path)


def test_measures_are_at_most_1(tmp_path, write_rows, rows):
    write_rows(tmp_path, rows.head(3).assign(nmi_max=62.1))
    with pytest.raises(DataError, match=r"nmi_max 62\.1"):
        read_results(tmp_path)
