"""The benchmark on embeddings: what is measured, and the committed rows."""

from __future__ import annotations

import csv

import pytest

from benchmarks import embeddings
from sphericalpca.datasets import make_embeddings

RESULTS = embeddings.Path(embeddings.__file__).parent / "results"


@pytest.fixture
def small(monkeypatch):
    X = make_embeddings(600, 48, random_state=0)[0]
    monkeypatch.setattr(embeddings, "minilm", lambda: X)
    monkeypatch.setattr(embeddings, "DIMENSIONS", (8, 16))
    monkeypatch.setattr(embeddings, "QUERIES", 100)
    return X


def test_recalls_of_all_methods_on_the_same_queries(small):
    rows = list(embeddings.recall_rows())
    assert [(row["r"], row["method"]) for row in rows] == [
        (r, method) for r in (8, 16) for method in embeddings.METHODS
    ]
    for row in rows:
        assert 0 < row["low"] <= row["recall"] <= row["high"] <= 1
        assert row["queries"] == 100
    (row,) = embeddings.choose_rows(1)
    assert row["n"] == 500, "the choice is judged by queries that it never saw"
    assert row["recall"] > 0.85
    assert row["ratio"] > 0


def committed(part):
    with (RESULTS / "embeddings.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["part"] == part]


def test_committed_rows_keep_the_promises():
    recall = {(row["method"], row["r"]): float(row["recall"]) for row in committed("recall")}
    for r in ("64", "128", "192"):
        assert recall["refit", r] >= recall["svd-unit", r] - 0.002
        assert recall["refit", r] >= recall["pca-dot", r] + 0.03
    (choice,) = committed("choose")
    assert float(choice["recall"]) >= 0.89
    assert float(choice["ratio"]) <= 3
    for row in committed("transform"):
        assert float(row["ratio"]) >= 0.5
        assert float(row["memory_mb"]) < 600
