"""The number of components is the smallest that surely keeps the neighbours."""

from __future__ import annotations

import json
import warnings
from dataclasses import astuple, replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from sphericalpca import (
    DataError,
    NoDirectionWarning,
    ShortfallWarning,
    SphericalPCA,
    choose_components,
    open_rows,
)
from sphericalpca.dimensions import choose
from sphericalpca.dimensions.choose import geometric_sizes
from sphericalpca.metrics.heldout import HeldOut

QUERIES = 150


def brute_recall(Z, true_ids, queries, k):
    """Recall by a plain search among unit rows, queries left out."""
    V = Z / np.maximum(np.linalg.norm(Z, axis=1), 1e-300)[:, None]
    cosines = V[queries] @ V.T
    cosines[:, queries] = -2
    found = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return np.mean([len(set(a) & set(b)) / k for a, b in zip(true_ids, found, strict=True)])


@pytest.fixture(scope="module")
def X():
    return load_digits().data.astype(np.float32)


@pytest.fixture(scope="module")
def choice(X):
    return choose_components(X, recall=0.8, k=5, queries=QUERIES, random_state=0)


@pytest.fixture(scope="module")
def held(X):
    """What was held out, seen from outside: the model of another choice gives it away."""
    seen = []
    draw = HeldOut.draw

    def watched(*args):
        seen.append(draw(*args))
        return seen[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HeldOut, "draw", staticmethod(watched))
        choose_components(X, recall=0.3, k=5, queries=QUERIES, random_state=0)
    return seen[0]


def test_the_choice_reaches_the_target_and_nothing_smaller_does(choice):
    assert choice.reached
    assert choice.chosen.low >= 0.8
    for point in choice.curve:
        assert (point.low >= 0.8) == (point.n_components >= choice.n_components)
    assert choice.n_components - 1 in choice.column("n_components")


def test_the_curve_is_a_curve(choice):
    sizes = choice.column("n_components")
    assert (np.diff(sizes) > 0).all()
    assert set(geometric_sizes(int(sizes[-1]))) <= set(sizes)
    assert sizes[-1] > choice.n_components
    assert (np.diff(choice.column("mean_cosine")) > 0).all()
    recall = choice.column("recall")
    assert (np.diff(recall) > -0.02).all()
    assert (choice.column("low") < recall).all()
    assert (recall <= choice.column("high")).all()
    np.testing.assert_array_equal(choice.column("bytes_per_vector"), 4 * sizes)
    np.testing.assert_array_equal(choice.column("index_bytes"), 4 * sizes * choice.n_base)


def test_the_model_is_fitted_to_the_rows_that_were_not_held_out(X, choice, held):
    weight = np.ones(len(X))
    weight[held.ids] = 0
    alone = SphericalPCA(choice.n_components).fit(np.delete(X, held.ids, axis=0))
    np.testing.assert_allclose(choice.model.mean_cosine_, alone.mean_cosine_, rtol=1e-4)
    assert choice.model.n_components_ == choice.n_components
    assert choice.model.residual_ <= 1e-4
    assert choice.model.init == "auto"
    assert choice.n_base + choice.n_queries == len(X)


def test_queries_have_no_part_in_the_model(X, choice, held):
    """Other numbers in the rows held out change the truth, but not the fits."""
    other = X.copy()
    other[held.ids] = np.random.default_rng(0).random((len(held.ids), 64))
    changed = choose_components(other, recall=0.8, k=5, queries=QUERIES, random_state=0)
    assert changed.chosen.recall != choice.chosen.recall
    for found in (choice, changed):
        fit = SphericalPCA(found.n_components).fit(other, sample_weight=held.weight)
        np.testing.assert_allclose(found.model.mean_cosine_, fit.mean_cosine_, rtol=1e-4)


def test_recalls_are_those_of_plain_searches(X, choice, held):
    true = held.truth.ids[:, :5]
    recall = brute_recall(choice.model.transform(X).astype(np.float64), true, held.ids, 5)
    np.testing.assert_allclose(choice.chosen.recall, recall, atol=2e-3)  # ties
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    U = np.linalg.svd(unit[held.weight > 0], full_matrices=False)[2].T
    assert np.isfinite(choice.chosen.svd_recall)
    for point in choice.curve:
        fit = SphericalPCA(point.n_components).fit(X, sample_weight=held.weight)
        np.testing.assert_allclose(point.mean_cosine, fit.mean_cosine_, rtol=3e-3)
        assert point.mean_cosine <= fit.mean_cosine_ * (1 + 1e-4)
        own = brute_recall(fit.transform(X).astype(float), true, held.ids, 5)
        assert abs(point.recall - own) < 0.05
        if np.isfinite(point.svd_recall):
            recall = brute_recall(X @ U[:, : point.n_components], true, held.ids, 5)
            np.testing.assert_allclose(point.svd_recall, recall, atol=2e-3)


def test_the_same_seed_gives_the_same(X, choice):
    again = choose_components(X, recall=0.8, k=5, queries=QUERIES, random_state=0)
    # Not ==: NaN is not NaN.
    np.testing.assert_equal([astuple(p) for p in again.curve], [astuple(p) for p in choice.curve])
    np.testing.assert_array_equal(again.model.components_, choice.model.components_)


def test_sparse_rows_and_rows_in_files_are_taken_as_they_are(X, choice, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    for data in (sparse.csr_array(X), open_rows(tmp_path / "rows.npy", memory_budget="1MB")):
        found = choose_components(data, recall=0.8, k=5, queries=QUERIES, random_state=0)
        assert abs(found.n_components - choice.n_components) <= 1
        assert abs(found.chosen.recall - choice.chosen.recall) < 0.01


def test_wide_rows(X, monkeypatch):
    """Where the Gram matrix would be too large, singular vectors are found as needed."""
    expected = choose_components(X, recall=0.7, k=5, queries=QUERIES, random_state=0)
    for module in ("sphericalpca.solvers.start", "sphericalpca.dimensions.subspaces"):
        monkeypatch.setattr(f"{module}.GRAM_FEATURES", 3)
    monkeypatch.setattr("sphericalpca.dimensions.subspaces.FIRST_COLUMNS", 9)
    found = choose_components(X, recall=0.7, k=5, queries=QUERIES, random_state=0)
    assert abs(found.n_components - expected.n_components) <= 1


def test_at_most_the_largest(X):
    with pytest.warns(ShortfallWarning, match="up to 6 reliably keeps a recall of 0.95") as said:
        found = choose_components(X, recall=0.95, k=5, queries=QUERIES, largest=6, random_state=0)
    text = str(said[0].message)
    assert f"6 keep {found.chosen.recall:.3f} (95% interval {found.chosen.interval})" in text
    more = "or raise queries " if len(X) // 5 > found.n_queries else ""
    assert text.endswith(f": raise largest {more}or lower recall.")
    assert said[0].filename == __file__
    assert len(said) == 1
    assert (found.n_components, found.reached) == (6, False)
    assert found.model.n_components_ == 6
    assert "The target 0.95 was not reached by the lower end" in str(found)
    assert max(found.column("n_components")) == 6


def test_more_rows_are_asked_for_where_only_they_would_help():
    X = np.random.default_rng(0).standard_normal((60, 4))
    with pytest.warns(
        ShortfallWarning, match=r"4 keep 1\.000 .*: pass more rows or lower recall\."
    ):
        choose_components(X, recall=0.99, k=2, random_state=0)


@pytest.mark.parametrize(("recall", "k", "seed"), [(0.05, 1, 0), (0.999, 1, 0), (0.7, 5, 1)])
def test_targets_in_the_middle_and_at_the_ends(X, recall, k, seed):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = choose_components(X, recall=recall, k=k, queries=QUERIES, random_state=seed)
    # All components were allowed: there are no more.
    assert ["largest" in str(warning.message) for warning in said] == [False] * (not found.reached)
    assert found.reached == (found.chosen.low >= recall)
    assert 1 <= found.n_components <= 64


def test_zero_rows_are_no_queries_and_no_neighbours(X):
    X = X.copy()
    X[::7] = 0
    with pytest.warns(NoDirectionWarning, match="257 of 1797 rows") as said:
        found = choose_components(X, recall=0.7, k=5, queries=QUERIES, random_state=0)
    assert len(said) == 1
    assert found.chosen.low >= 0.7


def test_progress_is_told(X):
    seen, options = [], {"recall": 0.6, "k": 5, "queries": QUERIES, "random_state": 0}
    found = choose_components(X, **options, progress=seen.append)
    assert {point.n_components for point in seen} == set(found.column("n_components"))


def test_numbers_for_machines_and_words_for_people(choice):
    told = json.loads(json.dumps(choice.to_dict()))
    assert told["n_components"] == choice.n_components
    assert [point["recall"] for point in told["curve"]] == choice.column("recall").tolist()
    assert None in [point["svd_recall"] for point in told["curve"]]
    start = f"{choice.n_components} of 64 components keep {choice.chosen.recall:.3f}"
    assert str(choice).startswith(start)
    assert "\n" not in str(choice)
    assert len(repr(choice)) < 500
    assert f"n_components={choice.n_components}" in repr(choice)


def test_one_component_keeps():
    choice = choose_components(np.tile([[3.0, 4.0]], (40, 1)), recall=0.5, random_state=0)
    assert str(choice).startswith("1 of 2 components keeps 1.000 of the 10 nearest")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"recall": 0}, "recall=0 must be between 0 and 1"),
        ({"recall": 1.0}, "recall=1.0 must be between 0 and 1"),
        ({"recall": "high"}, "recall='high' must be between"),
        ({"confidence": 1}, "confidence=1 must be between 0 and 1"),
        ({"k": 0}, "k=0 must be a positive integer"),
        ({"queries": 2.5}, "queries=2.5 must be a positive integer"),
        ({"largest": 65}, r"largest=65 must be an integer from 1 to min.*=64"),
        ({"tol": -1}, "'tol' parameter"),
        ({"tol": np.nan}, "'tol' parameter"),
        ({"k": 1700}, "too few to hold out queries"),
    ],
)
def test_what_cannot_be_asked(X, options, match):
    with pytest.raises(ValueError, match=match):
        choose_components(X, **options)
    with pytest.raises(DataError, match="row 0, column 1"):
        choose_components([[1.0, np.nan], [1.0, 2.0]])


def test_geometric_sizes():
    assert [geometric_sizes(largest) for largest in (5, 8, 9)] == [[5], [8], [8, 9]]
    assert geometric_sizes(40) == [*geometric_sizes(32), 40] == [8, 11, 16, 23, 32, 40]


def test_other_queries_of_real_embeddings_keep_their_neighbours(data_home):
    file = data_home / "newsgroups_minilm_f16.npz"
    if not file.exists():
        pytest.skip("no embeddings in the data home")
    X = np.load(file)["X"].astype(np.float32)[::6]
    rng = np.random.default_rng(1)
    others = rng.choice(len(X), 500, replace=False)
    rest = np.delete(X, others, axis=0)
    choice = choose_components(rest, recall=0.9, k=10, queries=500, random_state=0)
    V = choice.model.transform(X)
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    recalls = []
    for Z in (unit, V):
        cosines = Z[others] @ Z.T
        cosines[:, others] = -2
        recalls.append(np.argpartition(-cosines, 10, axis=1)[:, :10])
    kept = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(*recalls, strict=True)])
    assert kept >= 0.89


def test_a_fit_that_falls_short_is_not_taken(monkeypatch):
    """The ladder predicted that this many are enough, but the fit falls short."""
    search, short = choose._Search, []
    record = search._fit_and_measure

    def measured(self, ladder, size):
        model = record(self, ladder, size)
        if not short:
            self.points[size] = replace(self.points[size], low=0.0)
            short.append(size)
        return model

    monkeypatch.setattr(search, "_fit_and_measure", measured)
    choice = choose_components(load_digits().data, recall=0.8, queries=QUERIES, random_state=0)
    assert choice.reached
    assert choice.n_components == choice.model.n_components_ == short[0] + 1
