"""Tables survive the way to disk and back; damage is named."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from paper.datasets import files
from paper.datasets.tables import LabelledTable, read_table, table_facts, write_table

numbers = st.floats(allow_nan=False, allow_infinity=False)
tables = st.tuples(st.integers(1, 6), st.integers(1, 5)).flatmap(
    lambda shape: st.builds(
        LabelledTable,
        hnp.arrays(np.float64, shape, elements=numbers),
        hnp.arrays(np.int64, shape[0], elements=st.integers(-5, 30)),
    )
)


@given(table=tables)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_every_number_comes_back(tmp_path, same, table):
    write_table(tmp_path / "t.csv.gz", table)
    assert same(read_table(tmp_path / "t.csv.gz"), table)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "first line"),
        ("<html>\n", "first line"),
        ("f0,f1,label\n1,2\n", "2 columns, but 3 names"),
        ("f0,label\n1,2\n3\n", "columns changed"),
        ("f0,label\n1,nan\n", "NaN"),
        ("f0,label\ninf,1\n", "NaN or infinity"),
        ("f0,label\nabc,1\n", "could not convert"),
        ("f0,label\n1,1.5\n", "label is not an integer"),
        ("f0,label\n1,\xe9\n", "codec can't decode"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, reason):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(text.encode("latin-1")))
    with pytest.raises(ValueError, match=reason):
        read_table(path)


def test_line_ends_of_another_system_and_a_table_without_rows(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"f0,label\r\n1.5,2\r\n"))
    assert read_table(path).X.tolist() == [[1.5]]
    path.write_bytes(gzip.compress(b"f0,f1,label\n"))
    facts = table_facts(read_table(path))
    assert (facts.rows, facts.features, facts.classes) == (0, 2, {})


def test_facts(rng):
    X, y = rng.standard_normal((12, 3)), np.repeat([1, 4, 2], [3, 4, 5])
    facts = table_facts(LabelledTable(X, y))
    assert (facts.rows, facts.features, facts.digest) == (12, 3, "")
    assert facts.classes == {"1": 3, "2": 5, "4": 4}
    weights = [1, (5**0.5 + 1) / 2, 5**0.5 - 1]  # 1, 1.618..., 1.236...
    by_hand = [w * (y[i] + 1) * X[i, j] for i in range(12) for j, w in enumerate(weights)]
    assert facts.fingerprint == pytest.approx((sum(by_hand), sum(map(abs, by_hand))))


def test_a_file_that_unpacks_to_more_than_any_data_set(tmp_path, monkeypatch):
    """Without a limit 1 MB could become 1 GB, in one line."""
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"f0,label\n" + b"0" * 4000))
    monkeypatch.setattr(files, "LARGEST", 4000)
    with pytest.raises(ValueError, match="would unpack to more than 4000 bytes"):
        read_table(path)
