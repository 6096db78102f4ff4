"""Exact search agrees with all distances written out, however the rows are cut."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import DataError, MissingExtraError, open_rows
from sphericalpca.metrics import nearest_neighbours, recall_at_k, recall_per_query, search

METRICS = ["cosine", "inner", "euclidean"]


def brute_scores(base, queries, metric):
    """Score by score, from the definitions, in float64."""
    B, Q = (np.asarray(A.toarray() if sparse.issparse(A) else A, float) for A in (base, queries))
    if metric == "euclidean":
        return -np.array([[np.sum((q - b) ** 2) for b in B] for q in Q])
    if metric == "cosine":
        B, Q = (A / np.maximum(np.linalg.norm(A, axis=1), 1e-300)[:, None] for A in (B, Q))
    return Q @ B.T


def brute(base, queries, k, metric, *, members=None, left_out=()):
    scores = brute_scores(base, queries, metric)
    scores[:, list(left_out)] = -np.inf
    if members is not None:
        scores[np.arange(len(scores)), members] = -np.inf
    ids = np.array([np.lexsort((np.arange(len(line)), -line))[:k] for line in scores])
    return ids, np.take_along_axis(scores, ids, axis=1)


KINDS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "columns": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
}


@pytest.fixture
def X(rng):
    X = rng.standard_normal((203, 6)) + 0.3
    X[rng.random(X.shape) < 0.3] = 0
    return X


# Every kind, block height and k with every metric, and most of them with each other.
SEARCHES = [
    *[("float64", 16_384, 1), ("float32", 50, 10), ("columns", 11, 60)],
    *[("strided", 16_384, 10), ("csr", 50, 60), ("csr matrix", 11, 1)],
    *[("float64", 11, 10), ("csr", 11, 10), ("float32", 16_384, 60)],
]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("kind", "height", "k"), SEARCHES)
def test_all_kinds_of_base_agree_with_brute_force(X, metric, kind, height, k):
    rng = np.random.default_rng(3)
    queries = rng.standard_normal((17, 6))
    queries = queries.astype(np.float32) if kind == "float32" else queries
    left_out = rng.choice(len(X), 25, replace=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "BLOCK_ROWS", height)
        found = nearest_neighbours(KINDS[kind](X), queries, k, metric=metric, left_out=left_out)
    ids, scores = brute(X, queries, k, metric, left_out=left_out)
    np.testing.assert_array_equal(found.ids, ids)
    np.testing.assert_allclose(found.scores, scores, atol=1e-5 if kind == "float32" else 1e-12)


@pytest.fixture(params=[16_384, 11], ids=lambda rows: f"blocks_of_{rows}")
def _blocks(request, monkeypatch):
    monkeypatch.setattr(search, "BLOCK_ROWS", request.param)


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_members_are_not_their_own_neighbours(X, metric, kind):
    base, some = KINDS[kind](X), np.array([3, 99, 0, 202])
    ids, _ = brute(X, X, 5, metric, members=np.arange(len(X)))
    np.testing.assert_array_equal(nearest_neighbours(base, k=5, metric=metric).ids, ids)
    found = nearest_neighbours(base, k=5, metric=metric, members=some)
    np.testing.assert_array_equal(found.ids, ids[some])


@pytest.mark.usefixtures("_blocks")
def test_of_equal_rows_the_first_come_first_and_all_can_be_had(X):
    base = np.tile(np.eye(3), (20, 1))
    found = nearest_neighbours(base, np.eye(3), 15)
    for line, ids in enumerate(found.ids):
        np.testing.assert_array_equal(ids, np.arange(line, 45, 3))
    # All rows tie with a query that has no direction.
    np.testing.assert_array_equal(nearest_neighbours(base, np.zeros((1, 3)), 4).ids, [[0, 1, 2, 3]])
    for ids in nearest_neighbours(X, X[:3], 200, left_out=[5, 100, 202]).ids:
        assert set(ids) == set(range(203)) - {5, 100, 202}


def test_integers_and_small_floats(rng):
    X = rng.integers(-9, 9, (50, 4))
    ids, _ = brute(X, X[:5], 6, "euclidean")
    np.testing.assert_array_equal(nearest_neighbours(X, X[:5], 6, metric="euclidean").ids, ids)
    half = nearest_neighbours(X.astype(np.float16), X[:5].astype(np.float16), 6, metric="inner")
    assert half.scores.dtype == np.float32
    np.testing.assert_array_equal(half.ids, brute(X, X[:5], 6, "inner")[0])


def test_distances_far_from_zero_keep_their_digits(rng):
    X = rng.standard_normal((300, 5)).astype(np.float32) * 0.01 + np.float32(1000)
    ids, _ = brute(X, X[:20], 3, "euclidean", members=np.arange(20))
    found = nearest_neighbours(X, k=3, metric="euclidean", members=np.arange(20))
    np.testing.assert_array_equal(found.ids, ids)


def test_no_thread_holds_more_scores_than_allowed(X, monkeypatch):
    monkeypatch.setattr(search, "SCORES", 1000)
    monkeypatch.setattr(search, "BLOCK_ROWS", 100)
    seen, scores_of = [], search._scores

    def watched(*args):
        scores = scores_of(*args)
        seen.append(scores.size)
        return scores

    monkeypatch.setattr(search, "_scores", watched)
    ids = nearest_neighbours(X, X, 4).ids
    assert max(seen) <= 1000
    assert sum(seen) == len(X) ** 2
    np.testing.assert_array_equal(ids, brute(X, X, 4, "cosine")[0])


@pytest.mark.parametrize("metric", METRICS)
def test_faiss_finds_the_same(X, rng, metric):
    pytest.importorskip("faiss")
    X = X.astype(np.float32)
    for options in ({"queries": rng.random((9, 6)), "left_out": [1, 2, 30]}, {"members": [4, 7]}):
        ours = nearest_neighbours(X, k=8, metric=metric, **options)
        theirs = nearest_neighbours(X, k=8, metric=metric, backend="faiss", **options)
        np.testing.assert_array_equal(ours.ids, theirs.ids)
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-5)


def test_faiss_takes_dense_arrays_only_and_may_be_absent(X, monkeypatch):
    pytest.importorskip("faiss")
    with pytest.raises(DataError, match="dense arrays in memory: use backend='numpy'"):
        nearest_neighbours(sparse.csr_array(X), X[:2], backend="faiss")
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match=r"sphericalpca\[faiss\]"):
        nearest_neighbours(X, X[:2], backend="faiss")
    assert nearest_neighbours(X, X[:2]).ids.shape == (2, 10)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"metric": "manhattan"}, ValueError, "metric='manhattan' must be one of cosine, inner"),
        ({"backend": "annoy"}, ValueError, "backend='annoy' must be one of"),
        ({"k": 2.0}, DataError, "k=2.0 must be an integer"),
        ({"k": 0}, DataError, "k=0 must be an integer from 1 to 203"),
        ({"k": 204}, DataError, "k=204 must be an integer from 1 to 203"),
        ({"k": 200, "left_out": range(4)}, DataError, "k=200 must be an integer from 1 to 199"),
        ({"left_out": [203]}, DataError, "left_out holds .* must hold row numbers of the base"),
        ({"members": [0, -1]}, DataError, "members holds .* must hold row numbers of the base"),
        ({"members": [0]}, DataError, r"members has shape \(1,\), but there are 2 queries"),
        ({"queries": np.ones((2, 5))}, DataError, r"queries have shape \(2, 5\)"),
        ({"queries": np.ones(6)}, DataError, r"queries have shape \(6,\)"),
        ({"queries": np.full((2, 6), np.nan)}, DataError, "Row 0 of the queries holds NaN"),
    ],
)
def test_what_cannot_be_asked(X, options, error, match):
    with pytest.raises(error, match=match):
        nearest_neighbours(X, **{"queries": X[:2], **options})
    X[17, 3] = np.inf
    with pytest.raises(DataError, match=r"Row 17 of the base holds infinity \(inf\) in column 3"):
        nearest_neighbours(X, np.ones((1, 6)))


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("metric", METRICS)
def test_rows_in_files(X, rng, metric, tmp_path):
    np.save(tmp_path / "dense.npy", X)
    sparse.save_npz(tmp_path / "sparse.npz", sparse.csr_array(X))
    queries = rng.standard_normal((5, 6))
    ids, _ = brute(X, queries, 7, metric, left_out=[1, 2])
    for name in ("dense.npy", "sparse.npz"):
        source = open_rows(tmp_path / name)
        found = nearest_neighbours(source, queries, 7, metric=metric, left_out=[1, 2])
        np.testing.assert_array_equal(found.ids, ids)
        with pytest.raises(TypeError, match="pass the queries as an array"):
            nearest_neighbours(source)


def test_recall_counts_common_ids_in_parts(rng, monkeypatch):
    true = np.array([rng.choice(40, 10, replace=False) for _ in range(25)])
    found = np.array([rng.choice(40, 13, replace=False) for _ in range(25)])
    each = [len(set(t) & set(f)) / 10 for t, f in zip(true, found, strict=True)]
    for pairs in (10**6, 40):
        monkeypatch.setattr("sphericalpca.metrics.neighbours.PAIRS", pairs)
        np.testing.assert_allclose(recall_per_query(true, found), each)
    np.testing.assert_allclose(recall_at_k(true, found), np.mean(each))


def test_any_of_those_that_tie_is_right():
    true = [[1, 2, 3, 4], [1, 2, -1, -1]]
    np.testing.assert_array_equal(recall_per_query(true, [[3, 4], [2, 9]], k=2), [1.0, 0.5])
    np.testing.assert_array_equal(recall_per_query(true, [[1, 2, 3], [1, 2, 3]], k=2), [1.0, 1.0])
    # Nobody is not a neighbour.
    np.testing.assert_array_equal(recall_per_query([[1, -1]], [[-1, 1]]), [0.5])


@pytest.mark.parametrize("backend", ["numpy", "faiss"])
@pytest.mark.parametrize("where", ["base", "queries"])
def test_rows_whose_length_is_no_number_of_their_type(where, backend):
    if backend == "faiss":
        pytest.importorskip("faiss")
    rows = {name: np.eye(3, dtype=np.float32) for name in ("base", "queries")}
    rows[where][1, 1] = 3e38
    found = nearest_neighbours(rows["base"], rows["queries"], 1, backend=backend)
    assert found.ids.tolist() == [[0], [1], [2]]
    rows[where][1] = 3e38
    with pytest.raises(DataError, match="beyond the largest number of float32"):
        nearest_neighbours(rows["base"], rows["queries"], 1, backend=backend)


def test_what_has_no_recall():
    """k = -1 had given a recall of -2."""
    for k in (0, -1, 1.5, np.nan, "ten"):
        with pytest.raises(ValueError, match="positive integer"):
            recall_at_k([[1, 2]], [[1, 2]], k)
    nobody = np.empty((0, 3), dtype=int)
    assert recall_per_query(nobody, nobody).shape == (0,)
    with pytest.raises(ValueError, match="at least one query is needed"):
        recall_at_k(nobody, nobody)
    with pytest.raises(ValueError, match="row numbers"):
        recall_per_query([["a"]], [["a"]])
    with pytest.raises(ValueError, match="one line for each query"):
        recall_per_query([[1, 2]], [[1, 2], [3, 4]])
