"""Recalls agree with plain searches among representations made by others."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from sphericalpca import DataError, SphericalPCA, evaluate, open_rows
from sphericalpca.evaluation import check_drift
from sphericalpca.evaluation.findings import findings
from sphericalpca.evaluation.methods import METHODS, centred_pca
from sphericalpca.linalg import principal_angles
from sphericalpca.metrics.heldout import HeldOut
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers.start import svd_start

R, QUERIES, AT = 20, 120, (1, 10, 60)


@pytest.fixture(scope="module")
def X():
    return load_digits().data + 0.0


@pytest.fixture(scope="module")
def model(X):
    return SphericalPCA(R).fit(X)


@pytest.fixture(scope="module")
def seen(X, model):
    """An evaluation, and the queries that it held out."""
    held, draw = [], HeldOut.draw

    def watched(*args):
        held.append(draw(*args))
        return held[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HeldOut, "draw", staticmethod(watched))
        found = evaluate(model, X, at=AT, queries=QUERIES, random_state=0)
    return found, held[0]


@pytest.fixture(scope="module")
def found(seen):
    return seen[0]


def plain_ids(Z, queries, metric, k):
    """Nearest rows by a full table of scores, queries left out."""
    if metric == "cosine":
        Z = Z / np.linalg.norm(Z, axis=1)[:, None]
    scores = Z[queries] @ Z.T
    if metric == "euclidean":
        scores = 2 * scores - np.sum(Z**2, axis=1)
    scores[:, queries] = -np.inf
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


def share(true, found):
    return np.mean([len(set(a) & set(b)) / len(a) for a, b in zip(true, found, strict=True)])


def representations(X, model, held):
    """The same methods by other means: scikit-learn and numpy."""
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    base = np.delete(unit, held.ids, axis=0)
    svd = unit @ np.linalg.svd(base, full_matrices=False)[2][:R].T
    pca = PCA(R, svd_solver="full").fit(base).transform(unit)
    return {
        "model": (model.transform(X), "cosine"),
        "refit": (SphericalPCA(R).fit(base).transform(unit), "cosine"),
        "svd-unit": (svd, "cosine"),
        "svd-dot": (svd, "inner"),
        "pca-cosine": (pca, "cosine"),
        "pca-dot": (pca, "inner"),
        "pca-euclidean": (pca, "euclidean"),
        "truncation": (X[:, :R], "cosine"),
    }


def test_every_method_agrees_with_a_plain_one(X, model, seen):
    """Also in smaller dimensions, which are the leading ones."""
    found, held = seen
    true = plain_ids(X, held.ids, "cosine", 60)
    for name, (Z, metric) in representations(X, model, held).items():
        for k in AT:
            expected = share(true[:, :k], plain_ids(Z, held.ids, metric, k))
            row = found.row(name, k=k)
            np.testing.assert_allclose(row.recall, expected, atol=4e-3, err_msg=f"{name} {k}")
        if name not in ("refit", "truncation"):
            expected = share(true[:, :10], plain_ids(Z[:, :10], held.ids, metric, 10))
            row = found.row(name, k=10, r=10)
            np.testing.assert_allclose(row.recall, expected, atol=5e-3, err_msg=name)


def test_ranking_candidates_with_full_vectors_finds_what_is_among_them(X, model, seen):
    """The second stage, made in earnest."""
    found, held = seen
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    true = plain_ids(X, held.ids, "cosine", 10)
    V = model.transform(X)
    for candidates in (10, 20, 50, 100):
        first = plain_ids(V, held.ids, "cosine", candidates)
        cosines = np.einsum("qd,qcd->qc", unit[held.ids], unit[first])
        order = np.argsort(-cosines, axis=1)[:, :10]
        second = np.take_along_axis(first, order, axis=1)
        row = found.row("model", k=10, candidates=candidates)
        np.testing.assert_allclose(row.recall, share(true, second), atol=2e-3)


def test_a_model_of_all_dimensions_finds_everything(X):
    model = SphericalPCA(61, tol=1e-3).fit(X)  # three columns are zero
    found = evaluate(model, X, at=(5,), queries=60, random_state=0)
    for name in ("model", "refit", "svd-unit", "svd-dot"):
        assert found.row(name, k=5).recall == 1.0
    assert found.drift.now == pytest.approx(1.0)
    assert found.standings(5)["svd-unit"].outcome == "level"


def test_differences_are_paired(found):
    for row in found.rows:
        if row.method == "refit":
            assert np.isnan(row.difference)
            continue
        key = (row.n_components, row.k, row.candidates)
        gap = found.recalls["refit", *key] - found.recalls[row.method, *key]
        assert row.difference == pytest.approx(gap.mean())
        assert row.difference_low <= row.difference <= row.difference_high


def test_standings_follow_their_rule(found):
    for k in AT:
        for name, standing in found.standings(k).items():
            gap = standing.difference
            row = found.row(name, k=k)
            assert gap.mean == pytest.approx(row.difference)
            if standing.outcome == "ahead":
                assert gap.low > 0
                assert gap.mean >= 0.005
            if standing.outcome == "behind":
                assert gap.high < 0
                assert gap.mean <= -0.005
    assert found.standings(10)["random"].outcome == "ahead"
    assert found.standings(10)["svd-unit"].outcome == "level"


def test_sparse_rows_and_rows_in_files(X, model, found, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    for rows in (sparse.csr_array(X), open_rows(tmp_path / "rows.npy", memory_budget="2MB")):
        other = evaluate(model, rows, at=AT, queries=QUERIES, random_state=0)
        for row, same in zip(other.rows, found.rows, strict=True):
            assert row.method == same.method
            np.testing.assert_allclose(row.recall, same.recall, atol=5e-3)
        assert other.drift.now == pytest.approx(found.drift.now)


def test_a_centred_model_is_taken_as_it_is(X):
    model = SphericalPCA(12, center=True).fit(X)
    found = evaluate(model, X, at=(10,), queries=100, random_state=0)
    assert found.row("model", k=10).recall == pytest.approx(
        found.row("refit", k=10).recall, abs=0.02
    )
    assert found.drift.verdict == "none"


def test_small_models_have_no_smaller_dimensions(X):
    found = evaluate(SphericalPCA(9).fit(X), X, at=(3, 4), queries=50, random_state=0)
    assert {row.n_components for row in found.rows} == {9}
    assert found.k == 3


def test_rows_as_text_and_numbers(found):
    lines = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert len(lines) == len(found.rows)
    assert [float(line["recall"]) for line in lines] == [row.recall for row in found.rows]
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["n_components"] == R
    assert told["drift"]["verdict"] == "none"
    assert len(told["rows"]) == len(lines)


def test_the_same_seed_gives_the_same_and_progress_names_the_methods(X, model, found):
    told = []
    options = {"at": AT, "queries": QUERIES, "random_state": 0, "progress": told.append}
    assert evaluate(model, X, **options).to_csv() == found.to_csv()
    assert told[1:] == [*(method.label for method in METHODS), "drift"]


def test_what_cannot_be_evaluated(X, model):
    for at in ((), (0,), (1.5,), 10, "10", (10, -1)):
        with pytest.raises(ValueError, match="must be positive integers"):
            evaluate(model, X, at=at)
    with pytest.raises(DataError, match="features"):
        evaluate(model, X[:, 1:])
    for call in (evaluate, check_drift):
        words = rf"of type ndarray, .*: call {call.__name__}\(model, X\)\.$"
        with pytest.raises(TypeError, match=words):
            call(X, model)


@pytest.mark.parametrize("limit", [1024, 10], ids=["covariance", "iteration"])
def test_centred_pca_is_scikit_learns(X, monkeypatch, limit, layout):
    monkeypatch.setattr("sphericalpca.evaluation.methods.GRAM_FEATURES", limit)
    weight, rng = np.where(np.arange(len(X)) % 9, 1.0, 0.0), np.random.default_rng(0)
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    theirs = PCA(8, svd_solver="full").fit(unit[weight > 0])
    rows = as_rows(sparse.csr_array(X) if layout == "csr" else X, weight=weight)
    mean, U = centred_pca(Problem(rows), 8, rng)
    np.testing.assert_allclose(mean, theirs.mean_, atol=1e-12)
    assert principal_angles(U, theirs.components_.T).max() < 1e-3
    np.testing.assert_allclose(np.abs(np.sum(U.T * theirs.components_, axis=1)), 1, atol=1e-4)


def test_the_second_stage_is_not_larger_than_the_base():
    X = np.random.default_rng(0).standard_normal((60, 12))
    found = evaluate(SphericalPCA(8).fit(X), X, at=(10,), queries=10, random_state=0)
    assert max(row.candidates for row in found.rows) == 50
    assert found.row("random", k=10, candidates=50).recall == 1.0


def test_real_embeddings(data_home):
    """No lower than SVD + unit rows, and clearly above centred PCA with the dot product."""
    file = data_home / "newsgroups_minilm_f16.npz"
    if not file.exists():
        pytest.skip("no embeddings in the data home")
    X = np.load(file)["X"].astype(np.float32)
    rng = np.random.default_rng(0)
    held = HeldOut.draw(X, 1000, 10, rng)
    problem = Problem(as_rows(X, weight=held.weight))
    mean, axes = centred_pca(problem, 192, rng)
    svd = problem.rows.project(svd_start(problem, 192, rng).U)
    pca = problem.rows.project(axes) - (mean @ axes).astype(np.float32)

    def recall(Z, metric):
        return held.recall(held.search(Z, 10, metric), 10).mean()

    for r in (64, 192):
        model = SphericalPCA(r, tol=1e-3).fit(X, sample_weight=held.weight)
        ours = recall(model.transform(X), "cosine")
        assert ours >= recall(svd[:, :r], "cosine") - 0.002
        assert ours >= recall(pca[:, :r], "inner") + 0.03


def test_data_frames_in_and_out(X, found):
    """Columns keep their names at the door only, and `set_output` is for users."""
    frame = pd.DataFrame(X, columns=[f"pixel {k}" for k in range(X.shape[1])])
    model = SphericalPCA(R).fit(frame).set_output(transform="pandas")
    framed = evaluate(model, frame, at=AT, queries=QUERIES, random_state=0)
    assert framed.to_csv() == found.to_csv()
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(DataError, match="feature names"):
        evaluate(model, frame[frame.columns[::-1]])


def test_what_is_printed_is_short_and_says_what_was_found(found):
    assert str(found).splitlines() == [f"- {sentence}" for sentence in findings(found)]
    assert f"Evaluation(n_samples={found.n_samples}" in repr(found)
    assert len(repr(found)) < 500
    assert len(repr(found.drift)) < 300
