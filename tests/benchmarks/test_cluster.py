"""The benchmark of a cluster runs, and its rows are as expected."""

import csv

import pytest

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow("cluster")


@pytest.fixture
def rows(tmp_path):
    from benchmarks.cluster import main  # noqa: PLC0415

    assert main(["--quick", "--repeats", "2", "--out", str(tmp_path)]) == 0
    with (tmp_path / "cluster.csv").open() as file:
        return list(csv.DictReader(file))


def test_a_quick_run(rows):
    actions = ["threads", "workers", "nothing"]
    assert [(row["workers"], row["action"]) for row in rows] == [
        (count, action) for count in "12" for action in actions
    ]
    for row in rows:
        assert float(row["seconds"]) > 0
        assert "quick run" in row["made_with"]
    one, two = (row for row in rows if row["action"] == "workers")
    # U in float32 goes out, the sums in float64 come back from each.
    assert 50 * 5 * 4 < int(one["bytes_out"]) < 50 * 5 * 4 + 5000
    assert int(one["bytes_back"]) == 8 * (50 * 5 + 5 * 5 + 2)
    assert int(two["bytes_back"]) == 2 * int(one["bytes_back"])
