"""`partial_fit`: a stream of batches makes a fitted model, whatever the batches are like.

What is learned from a batch is tested in tests/solvers/test_streaming.py.
"""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from sphericalpca import DataError, NoDirectionWarning, SphericalPCA
from sphericalpca.linalg import principal_angles
from sphericalpca.rows import RowSource

FITTED = [
    *("components_", "component_weights_", "mean_cosine_", "n_iter_"),
    *("stop_reason_", "mean_", "n_features_in_"),
]


def streamed(X, size, passes=1, seed=0, weight=None, **options):
    model = SphericalPCA(**options)
    rng = np.random.default_rng(seed)
    for _ in range(passes):
        order = rng.permutation(X.shape[0])
        for a in range(0, len(order), size):
            part = order[a : a + size]
            model.partial_fit(X[part], sample_weight=None if weight is None else weight[part])
    return model


def assert_same_model(one, other):
    for name in FITTED:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def subspace_angle(one, other):
    return principal_angles(one.components_.T, other.components_.T)[-1]


@pytest.fixture(scope="module")
def digits():
    X = load_digits().data
    return X[np.random.default_rng(3).permutation(len(X))]


@pytest.fixture
def model(digits):
    return streamed(digits, 300, n_components=5)


def test_a_stream_makes_a_model_like_any_other(model, digits):
    C = model.components_
    np.testing.assert_allclose(C @ C.T, np.eye(5), atol=1e-12)
    assert (C[range(5), np.abs(C).argmax(axis=1)] > 0).all()
    assert (np.diff(model.component_weights_) <= 0).all()
    assert model.component_weights_.sum() == pytest.approx(1.0)
    assert model.n_samples_seen_ == len(digits)
    assert model.n_features_in_ == 64
    assert model.n_iter_ == 6
    assert model.mean_ is None
    assert model.history_ == model.constants_ == {}
    for unknown in ("loss_", "residual_", "svd_ratio_", "n_passes_"):
        assert np.isnan(getattr(model, unknown))
    V = model.transform(digits)
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1.0)
    assert model.inverse_transform(V).shape == digits.shape
    assert model.certify(digits).gap < 0.01
    assert list(model.get_feature_names_out()) == [f"sphericalpca{k}" for k in range(5)]
    assert model.mean_cosine_ == pytest.approx(model.score(digits), rel=0.01)
    assert model.truncate(2).transform(digits).shape == (len(digits), 2)
    assert not hasattr(clone(model), "components_")
    assert hasattr(model, "set_partial_fit_request"), "weights can be routed"
    fitted = SphericalPCA(5).fit(digits)
    np.testing.assert_allclose(np.abs(C @ fitted.components_.T), np.eye(5), atol=0.1)
    np.testing.assert_allclose(model.component_weights_, fitted.component_weights_, atol=0.01)


def test_mean_cosine_is_exact_while_all_rows_are_kept(digits):
    model = SphericalPCA(4).partial_fit(digits[:100]).partial_fit(digits[100:150])
    assert model.mean_cosine_ == pytest.approx(model.score(digits[:150]), rel=1e-12)


def test_streams_are_deterministic_and_a_pickle_goes_on_with_the_same_bits(digits):
    model, same = (streamed(digits[:400], 50, n_components=6) for _ in range(2))
    assert_same_model(model, same)
    other = pickle.loads(pickle.dumps(model))
    for a in range(400, 1000, 150):
        model.partial_fit(digits[a : a + 150])
        other.partial_fit(digits[a : a + 150])
    assert_same_model(model, other)


def test_wide_sparse_batches_start_from_an_approximate_svd():
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 1500), density=0.02, random_state=rng, format="csr")
    model = streamed(X, 100, passes=3, n_components=3, random_state=0)
    assert model.score(X) > 0.98 * SphericalPCA(3, random_state=0).fit(X).mean_cosine_


def test_the_first_batch_decides_the_type(digits, float_type):
    model = SphericalPCA(3).partial_fit(digits[:99].astype(float_type))
    model.partial_fit(digits[99:300])
    assert model.components_.dtype == float_type
    assert model.transform(digits[:9].astype(float_type)).dtype == float_type
    assert model.score(digits) > 0.99 * SphericalPCA(3).fit(digits).mean_cosine_


def test_weights_are_repetitions_in_dense_and_sparse_batches(digits):
    w = np.random.default_rng(0).integers(0, 3, size=len(digits)).astype(float)
    weighted, repeated = SphericalPCA(4), SphericalPCA(4)
    for convert, a in zip(
        [sparse.csr_array, np.asarray, sparse.csc_matrix], (0, 300, 600), strict=True
    ):
        part = slice(a, a + 300)
        weighted.partial_fit(convert(digits[part]), sample_weight=w[part])
        repeated.partial_fit(np.repeat(digits[part], w[part].astype(int), axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-7)
    assert weighted.n_samples_seen_ == 900
    # Estimates, from different samples.
    assert weighted.mean_cosine_ == pytest.approx(repeated.mean_cosine_, rel=0.005)


@pytest.mark.parametrize("normalize", [True, False])
def test_rows_are_normalised_or_not_as_in_fit(digits, normalize):
    X = digits * np.random.default_rng(0).uniform(0.01, 1, size=(len(digits), 1)) ** 3
    fitted = SphericalPCA(4, normalize=normalize).fit(X)
    other = SphericalPCA(4, normalize=not normalize).fit(X)
    model = streamed(X, 100, passes=3, n_components=4, normalize=normalize)
    assert subspace_angle(model, fitted) < 0.3 * subspace_angle(other, fitted)


def test_the_first_batch_may_be_smaller_than_the_number_of_components(digits):
    model = SphericalPCA(8)
    for X in (digits[:3], digits[3:4], digits[4:9]):
        model.partial_fit(X)
        np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(8), atol=1e-12)
        assert model.score(X) > 0.9
    for a in range(9, len(digits), 100):
        model.partial_fit(digits[a : a + 100])
    assert model.score(digits) > 0.999 * SphericalPCA(8).fit(digits).mean_cosine_


def test_zero_rows_are_counted_and_teach_nothing(X):
    padded = np.vstack([X[:20], np.zeros((3, 7))])
    model, plain = SphericalPCA(2), SphericalPCA(2).partial_fit(X[:20])
    with pytest.warns(NoDirectionWarning, match="3 of 23 rows have no direction"):
        model.partial_fit(padded)
    np.testing.assert_allclose(model.components_, plain.components_, atol=1e-12)
    assert model.n_samples_seen_ == 23
    before = model.components_
    with pytest.warns(NoDirectionWarning, match="5 of 5"):
        model.partial_fit(np.zeros((5, 7)))
    np.testing.assert_array_equal(model.components_, before)
    assert (model.n_samples_seen_, model.n_iter_) == (28, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NoDirectionWarning):
            model.partial_fit(np.zeros((1, 7)))
    assert model.n_samples_seen_ == 29, "a warning made an error loses no batch"


def test_a_stream_may_begin_with_zeros(X):
    model = SphericalPCA(2)
    with pytest.warns(NoDirectionWarning):
        model.partial_fit(np.zeros((5, 7)))
    assert np.isnan(model.mean_cosine_)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2))
    plain = SphericalPCA(2).partial_fit(X)
    model.partial_fit(X)
    np.testing.assert_array_equal(model.components_, plain.components_)
    assert (model.n_samples_seen_, model.n_iter_) == (45, 2)


def test_init_is_where_the_first_batch_starts(X):
    U = np.linalg.qr(np.random.default_rng(1).standard_normal((7, 2)))[0]
    V = X @ U / np.linalg.norm(X @ U, axis=1)[:, None]
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    A, _, B = np.linalg.svd(unit.T @ V, full_matrices=False)
    model = SphericalPCA(2, init=U).partial_fit(X)
    assert principal_angles(model.components_.T, A @ B)[-1] < 1e-7
    draws = [SphericalPCA(2, init="random", random_state=s).partial_fit(X) for s in (0, 0, 1)]
    np.testing.assert_array_equal(draws[0].components_, draws[1].components_)
    assert subspace_angle(draws[0], draws[2]) > 1e-3
    with pytest.raises(DataError, match="starts from U alone"):
        SphericalPCA(2, init=(U, V)).partial_fit(X)


def test_fit_starts_anew(model, digits):
    assert_same_model(model.fit(digits[:500]), SphericalPCA(5).fit(digits[:500]))
    assert not hasattr(model, "n_samples_seen_")
    assert not hasattr(SphericalPCA(), "n_samples_seen_")


@pytest.mark.parametrize(
    ("mean_weight", "options"),
    [(1.0, {}), (0.01, {"normalize": False}), (0.01, {"n_components": 64})],
    ids=str,
)
def test_a_fit_counts_as_many_rows_as_it_saw(digits, mean_weight, options):
    w = mean_weight * np.random.default_rng(0).uniform(0.5, 1.5, len(digits))
    model = SphericalPCA(**{"n_components": 5, **options}).fit(digits, sample_weight=w)
    best, before = model.score(digits, sample_weight=w), model.components_
    assert model.total_weight_ == pytest.approx(w.sum(), rel=1e-12)
    assert model.n_samples_ == len(digits)
    model.partial_fit(digits[:20], sample_weight=w[:20])
    assert model.solver_.weight == pytest.approx(w.sum() + w[:20].sum(), rel=1e-12)
    assert (model.n_samples_, model.n_samples_seen_, model.n_iter_) == (len(digits) + 20, 20, 1)
    assert model.score(digits) > best * (1 - 1e-3)
    if model.n_components < 64:
        assert principal_angles(model.components_.T, before.T)[-1] > 1e-6, "it learns"


def test_a_batch_of_zeros_after_fit_changes_nothing(X):
    model = SphericalPCA(3).fit(X)
    before = pickle.dumps(model)
    with pytest.warns(NoDirectionWarning):
        model.partial_fit(np.zeros((2, 7)))
    assert pickle.dumps(model) == before


def test_a_truncated_model_goes_on(model, digits):
    short = model.truncate(3)
    short.partial_fit(digits[:50])
    assert short.components_.shape == (3, 64)
    assert short.solver_.weight == len(digits) + 50
    best = SphericalPCA(3).fit(digits).mean_cosine_
    assert short.score(digits) > 0.999 * best
    assert short.mean_cosine_ == pytest.approx(best, rel=0.02)
    assert len(model.partial_fit(digits[:50]).components_) == 5
    fitted = SphericalPCA(5).fit(digits).truncate(3).partial_fit(digits[:50])
    assert fitted.score(digits) > 0.999 * best


# What is refused, and that nothing is lost by it

BROKEN = {
    "nan": lambda m, X: m.partial_fit(np.where(X > 1, np.nan, X)),
    "weights": lambda m, X: m.partial_fit(X, sample_weight=-np.ones(len(X))),
    "no weight": lambda m, X: m.partial_fit(X, sample_weight=np.zeros(len(X))),
    "no rows": lambda m, X: m.partial_fit(X[:0]),
    "text": lambda m, X: m.partial_fit([["a", "b"]]),
}
BROKEN_LATER = BROKEN | {
    "narrow": lambda m, X: m.partial_fit(X[:, :5]),
    "few weights": lambda m, X: m.partial_fit(X, sample_weight=np.ones(3)),
    "one row, flat": lambda m, X: m.partial_fit(X[0]),
    "too long": lambda m, X: m.set_params(normalize=False).partial_fit(1e200 * X),
    "components": lambda m, X: m.set_params(n_components=4).partial_fit(X),
}


@pytest.mark.parametrize("broken", [*BROKEN_LATER, "interrupted"])
@pytest.mark.parametrize("begin", ["fit", "partial_fit"])
def test_a_batch_that_fails_leaves_the_model_as_it_was(X, broken, begin, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    model = getattr(SphericalPCA(3), begin)(X)
    before = {k: v for k, v in vars(model).items() if k.endswith("_")}
    if broken == "interrupted":
        monkeypatch.setattr("sphericalpca.solvers.streaming.polar", interrupt)
    with pytest.raises((ValueError, KeyboardInterrupt)):
        BROKEN_LATER.get(broken, SphericalPCA.partial_fit)(model, X)
    now = {k: v for k, v in vars(model).items() if k.endswith("_")}
    assert now.keys() == before.keys()
    assert all(now[k] is before[k] for k in now)


@pytest.mark.parametrize("broken", BROKEN)
def test_a_first_batch_that_fails_leaves_no_model(X, broken):
    model = SphericalPCA(3)
    with pytest.raises(ValueError, match=r"\w"):
        BROKEN[broken](model, X)
    with pytest.raises(NotFittedError):
        model.transform(X)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_centred_data_cannot_be_streamed(X):
    model = SphericalPCA(2, center=True)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(ValueError, match="center=True"):
        model.partial_fit(X)
    model.fit(X).set_params(center=False)
    with pytest.raises(ValueError, match="center=True"):
        model.partial_fit(X)
    assert hasattr(SphericalPCA(2), "partial_fit")


def test_numbers_of_components_that_cannot_be(X):
    with pytest.raises(DataError, match="n_components=8 must be at most 7, the number of columns"):
        SphericalPCA(8).partial_fit(X)
    with pytest.raises(ValueError, match="n_components"):
        SphericalPCA(0).partial_fit(X)
    model = SphericalPCA(5).partial_fit(X)
    with pytest.raises(ValueError, match="n_components=3 was set, but the model has learned 5"):
        model.set_params(n_components=3).partial_fit(X)


def test_files_are_refused(X):
    class File(RowSource):
        name, shape, dtype = "'some.npy'", (40, 7), np.dtype(np.float64)

    File.__abstractmethods__ = frozenset()
    with pytest.raises(DataError, match=r"'some.npy', but partial_fit takes batches in memory"):
        SphericalPCA(2).partial_fit(File())


def test_newsgroup_embeddings(data_home):
    """Shortfall of the mean cosine of all rows against that of `fit`."""
    path = data_home / "newsgroups_minilm_f16.npz"
    if not path.exists():
        pytest.skip(f"no {path.name} in the data home")
    with np.load(path) as content:
        X = content["X"][::3].astype(np.float32)
    best = SphericalPCA(64, tol=1e-2).fit(X).mean_cosine_
    for passes, shortfall in [(1, 0.002), (3, 0.0002)]:
        model = streamed(X, 256, passes=passes, n_components=64)
        assert 1 - model.score(X) / best < shortfall
