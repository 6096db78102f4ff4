"""`n_components` as a mean cosine: the smallest number of components that reaches it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sphericalpca import DataError, SphericalPCA
from sphericalpca.estimators import fit
from sphericalpca.solvers import Linearized


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    return rng.standard_normal((300, 40)) * 0.9 ** np.arange(40) + 0.05


KINDS = {"dense": np.asarray, "csr": sparse.csr_array, "single": lambda X: X.astype(np.float32)}


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        *[("dense", target) for target in (0.3, 0.55, 0.83, 0.999)],
        *[("csr", 0.7), ("csr", 0.95), ("single", 0.55), ("single", 0.95)],
    ],
)
def test_the_fit_reaches_it_and_one_component_less_does_not(data, kind, target):
    X = KINDS[kind](data)
    model = SphericalPCA(target).fit(X)
    r = model.n_components_
    assert model.mean_cosine_ >= target
    assert model.components_.shape == (r, 40)
    assert model.stop_reason_ == "converged"
    np.testing.assert_allclose(model.score(X), model.mean_cosine_, rtol=1e-5)
    # Fits from the SVD agree on what can be reached.
    same = SphericalPCA(r, init="svd").fit(X)
    assert same.mean_cosine_ >= target - 1e-5
    np.testing.assert_allclose(model.svd_ratio_, same.svd_ratio_, rtol=1e-4)
    if r > 1:
        assert SphericalPCA(r - 1).fit(X).mean_cosine_ < target + 1e-5


@pytest.mark.parametrize(
    "options",
    [{"center": True}, {"normalize": False}, {"solver": "newton"}, {"n_init": 2}],
    ids=str,
)
def test_with_other_options(data, options):
    model = SphericalPCA(0.8, random_state=0, **options).fit(data)
    assert model.mean_cosine_ >= 0.8
    less = SphericalPCA(model.n_components_ - 1, random_state=0, **options).fit(data)
    assert less.mean_cosine_ < 0.8 + 1e-5


def test_weights_count(data):
    weight = np.random.default_rng(0).integers(0, 4, len(data))
    weighted = SphericalPCA(0.8).fit(data, sample_weight=weight)
    repeated = SphericalPCA(0.8).fit(np.repeat(data, weight, axis=0))
    assert weighted.n_components_ == repeated.n_components_
    np.testing.assert_allclose(weighted.mean_cosine_, repeated.mean_cosine_, rtol=1e-6)


def test_wide_data_take_singular_vectors_as_they_need_them(data, monkeypatch):
    expected = SphericalPCA(0.9).fit(data)
    wide = np.hstack([data, np.zeros((300, 90))])
    monkeypatch.setattr(fit, "GRAM_FEATURES", 10)
    monkeypatch.setattr(fit, "FIRST_COLUMNS", 3)
    monkeypatch.setattr("sphericalpca.solvers.start.GRAM_FEATURES", 10)
    model = SphericalPCA(0.9, random_state=0).fit(wide)
    assert model.n_components_ == expected.n_components_
    np.testing.assert_allclose(model.mean_cosine_, expected.mean_cosine_, rtol=1e-6)


def test_long_rows_that_count_more():
    """Then a fit can have a lower mean cosine than the components that it began with."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 30)) * 0.85 ** np.arange(30)
    X[:6] = 400 * rng.standard_normal((6, 30))
    options = {"normalize": False, "max_iter": 3000, "tol": 1e-5}
    for target in (0.5, 0.6, 0.64):
        model = SphericalPCA(target, **options).fit(X)
        assert model.mean_cosine_ >= target
        start = model.components_[:-1].T
        less = SphericalPCA(model.n_components_ - 1, init=start, **options).fit(X)
        assert less.mean_cosine_ < target


def test_a_solver_that_does_not_climb_gets_more_components(data):
    """The authors' constant overshoots, so the SVD's number of components is not enough."""
    solver = Linearized(lam=2.0, mu=3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SphericalPCA(0.9, solver=solver, max_iter=4, tol=0).fit(data)
    assert model.mean_cosine_ >= 0.9
    assert model.n_components_ >= SphericalPCA(0.9).fit(data).n_components_


def test_everything_is_taken_where_nothing_less_is_enough(data):
    X = data.astype(np.float32)
    almost = float(np.nextafter(1, 0))
    model = SphericalPCA(almost).fit(X)
    assert model.n_components_ == 40
    few = SphericalPCA(almost).fit(data[:7])
    assert few.n_components_ <= 7
    assert few.mean_cosine_ > 1 - 1e-9


def test_floats_outside_0_to_1_are_refused(data):
    for value in (0.0, 1.0, -0.5, 1.5, float("nan"), float("inf"), np.float32(1), np.float64(-1)):
        with pytest.raises(
            ValueError, match=r"'n_components'.*a float in the range \(0.0?, 1.0?\)"
        ):
            SphericalPCA(value).fit(data)


def test_given_starts_and_checkpoints_need_a_number(data, tmp_path):
    for init in ("random", np.eye(40)[:, :3], (np.eye(40), np.eye(40))):
        with pytest.raises(
            DataError, match=r"starts from the SVD.*pass init='auto', or an integer"
        ):
            SphericalPCA(0.5, init=init).fit(data)
    with pytest.raises(DataError, match="omit checkpoint, or pass an integer"):
        SphericalPCA(0.5).fit(data, checkpoint=tmp_path / "run")


def test_what_follows_knows_the_number(data):
    seen = []
    model = SphericalPCA(0.8).set_output(transform="default").fit(data, progress=seen.append)
    r = model.n_components_
    assert model.transform(data).shape == (300, r)
    np.testing.assert_array_equal(clone(model).fit_transform(data), model.transform(data))
    assert len(model.get_feature_names_out()) == r
    short = model.truncate(r - 2)
    assert (short.n_components, short.n_components_) == (r - 2, r - 2)
    assert model.n_components == 0.8
    assert model.n_iter_ == len(model.history_["passes"])
    assert model.history_["passes"][-1] <= model.n_passes_
    assert seen[-1].iteration >= 2
    assert SphericalPCA(7).fit(data).n_components_ == 7
    assert not hasattr(SphericalPCA(), "n_components_")


def test_a_callback_ends_the_search(data, callback_recorder):
    pytest.importorskip("sklearn.callback")

    recorder = callback_recorder(stop=1)
    model = SphericalPCA(0.8).set_callbacks(recorder).fit(data)
    assert sum(event[:2] == ("end", "iteration") for event in recorder.events) == 1
    assert model.stop_reason_ == "callback"
    assert model.mean_cosine_ >= 0.8  # the SVD reached it


def test_numbers_of_numpy_are_numbers(data, tmp_path):
    """scikit-learn's own PCA takes True for one component, too."""
    model = SphericalPCA(np.float32(0.75)).fit(data)
    np.testing.assert_array_equal(model.components_, SphericalPCA(0.75).fit(data).components_)
    assert not hasattr(model, "partial_fit")
    model.save(tmp_path / "model")
    loaded = SphericalPCA.load(tmp_path / "model")
    assert (loaded.n_components, loaded.n_components_) == (0.75, model.n_components_)
    for count in (True, np.int8(1)):
        assert SphericalPCA(count).fit(data).n_components_ == 1
