"""Numbers from 1e-300 to 1e150 in float64, from 1e-30 to 1e30 in float32, without a warning."""

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Linearized

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MAGNITUDES = [
    *((np.float64, m) for m in (1e-300, 1e-200, 1e-155, 1e-20, 1e20, 1e100, 1e150)),
    *((np.float32, m) for m in (1e-30, 1e-22, 1e-18, 1e18, 1e22, 1e30)),
]
RANGES = [(np.float64, -300, 150), (np.float32, -30, 30)]
EXACT = [name for name, entry in SOLVERS.items() if not entry.moves_pairs]
ALL = {**{name: name for name in SOLVERS}, "block": Linearized("block", "block")}
OPTIONS = [
    pytest.param({"solver": solver, "center": center}, id=name + "-centre" * center)
    for name, solver in ALL.items()
    for center in (False, True)
]


@pytest.fixture(params=[np.asarray, sparse.csr_array], ids=["dense", "csr"])
def kind(request):
    return request.param


@pytest.fixture(params=MAGNITUDES, ids=lambda p: f"{p[0].__name__}-{p[1]:g}")
def scaled(request, X):
    dtype, magnitude = request.param
    return (magnitude * X).astype(dtype)


KNOWN = {}


def fitted_near_one(X, options):
    """A model of X itself and its certificate; X is the same for all tests."""
    key = tuple(options.items())
    if key not in KNOWN:
        model = SphericalPCA(**options).fit(X)
        KNOWN[key] = model, model.certify(X)
    return KNOWN[key]


@pytest.mark.parametrize("options", OPTIONS)
def test_unit_rows_do_not_depend_on_the_magnitude(X, scaled, kind, options, oracle):
    options = {"n_components": 3, "max_iter": 40, **options}
    plain, expected = fitted_near_one(X, options)
    model = SphericalPCA(**options)
    V = model.fit_transform(kind(scaled))
    atol = 1e-9 if scaled.dtype == np.float64 else 1e-4
    P, Q = oracle.projector(plain.components_), oracle.projector(model.components_)
    np.testing.assert_allclose(Q, P, atol=20 * atol)
    np.testing.assert_allclose(V, plain.transform(X), atol=100 * atol)
    for name in ("mean_cosine_", "loss_", "svd_ratio_", "component_weights_"):
        np.testing.assert_allclose(getattr(model, name), getattr(plain, name), rtol=atol)
    np.testing.assert_array_equal(model.transform(kind(scaled)), V)
    assert model.score(kind(scaled)) == pytest.approx(plain.mean_cosine_, rel=atol)
    found = model.certify(kind(scaled))
    assert found.value == pytest.approx(expected.value, rel=atol)
    assert found.gap == pytest.approx(expected.gap, abs=1e-3)


@pytest.mark.parametrize("options", OPTIONS)
def test_raw_rows_of_any_magnitude(X, scaled, kind, options, oracle):
    """f only grows with the magnitude, so methods without constants take the same way."""
    options = {"n_components": 3, "normalize": False, "max_iter": 40, **options}
    model = SphericalPCA(**options)
    V = model.fit_transform(kind(scaled))
    atol = 1e-9 if scaled.dtype == np.float64 else 1e-4
    C = model.components_
    np.testing.assert_allclose(C @ C.T, np.eye(3), atol=atol)
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1, atol=atol)
    for record in model.history_.values():
        assert not np.isnan(record).any()
    numbers = [model.loss_, model.residual_, model.svd_ratio_, model.mean_cosine_]
    assert np.isfinite(numbers).all()
    assert model.score(kind(scaled)) == pytest.approx(model.mean_cosine_, rel=atol)
    found = model.certify(kind(scaled))
    assert np.isfinite(found.gap)
    assert found.gap >= 0
    if model.solver in EXACT:
        plain, expected = fitted_near_one(X, options)
        P, Q = oracle.projector(plain.components_), oracle.projector(C)
        np.testing.assert_allclose(Q, P, atol=20 * atol)
        assert model.mean_cosine_ == pytest.approx(plain.mean_cosine_, rel=atol)
        assert found.gap == pytest.approx(expected.gap, abs=1e-3)


@pytest.mark.parametrize("numbers", RANGES)
def test_rows_of_mixed_magnitudes(X, kind, numbers, oracle):
    dtype, low, high = numbers
    rng = np.random.default_rng(0)
    mixed = (X * 10 ** rng.uniform(low, high, size=(40, 1))).astype(dtype)
    plain = SphericalPCA(3).fit(X)
    model = SphericalPCA(3).fit(kind(mixed))
    atol = 1e-9 if dtype == np.float64 else 1e-3
    P, Q = oracle.projector(plain.components_), oracle.projector(model.components_)
    np.testing.assert_allclose(Q, P, atol=atol)
    np.testing.assert_allclose(model.transform(kind(mixed)), plain.transform(X), atol=10 * atol)
    assert model.loss_ == pytest.approx(plain.loss_, rel=atol)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("numbers", RANGES)
def test_entries_of_mixed_magnitudes(kind, normalize, numbers):
    dtype, low, high = numbers
    rng = np.random.default_rng(1)
    X = (rng.standard_normal((30, 5)) * 10 ** rng.uniform(low, high, size=(30, 5))).astype(dtype)
    model = SphericalPCA(2, normalize=normalize)
    V = model.fit_transform(kind(X))
    lengths = np.linalg.norm(V.astype(float), axis=1)
    assert (np.isclose(lengths, 1, atol=1e-5) | (lengths == 0)).all()
    C = model.components_
    np.testing.assert_allclose(C @ C.T, np.eye(2), atol=1e-5)
    assert np.isfinite([model.loss_, model.mean_cosine_, model.residual_]).all()


def test_mixed_magnitudes_of_columns(X, kind):
    """A column 1e200 times the others is all that remains of a direction."""
    X = X + 1.0
    X[:, 0] *= 1e149
    model = SphericalPCA(1).fit(kind(X))
    np.testing.assert_allclose(model.components_, np.eye(7)[:1], atol=1e-12)


@pytest.mark.parametrize(("dtype", "magnitude"), [(np.float64, 1e-300), (np.float32, 1e-30)])
def test_weights_on_rows_of_small_magnitude(X, weight, dtype, magnitude, oracle):
    """1 / length and a large weight must not overflow together."""
    plain = SphericalPCA(3).fit(X, sample_weight=weight)
    model = SphericalPCA(3).fit((magnitude * X).astype(dtype), sample_weight=1e9 * weight)
    P, Q = oracle.projector(plain.components_), oracle.projector(model.components_)
    np.testing.assert_allclose(Q, P, atol=1e-3)


@pytest.mark.parametrize("n_features", [7, 1100])
@pytest.mark.parametrize(("dtype", "magnitude"), [(np.float64, 1e-300), (np.float64, 1e150)])
def test_wide_data_of_any_magnitude(kind, n_features, dtype, magnitude, oracle):
    """The randomized start too, and a certificate by way of the rows' inner products."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((15, 2)) @ rng.standard_normal((2, n_features))
    X += 0.3 * rng.standard_normal(X.shape)
    plain = SphericalPCA(2, random_state=0).fit(X)
    model = SphericalPCA(2, random_state=0).fit(kind((magnitude * X).astype(dtype)))
    assert model.mean_cosine_ == pytest.approx(plain.mean_cosine_, rel=1e-9)


@pytest.mark.parametrize("magnitude", [1e-300, 1e150])
@pytest.mark.parametrize("normalize", [True, False])
def test_certificate_of_very_wide_data_of_any_magnitude(kind, magnitude, normalize):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 2100))
    X += 0.3 * rng.standard_normal(X.shape)
    X /= np.abs(X).max()
    options = {"n_components": 2, "random_state": 0, "normalize": normalize}
    plain = SphericalPCA(**options).fit(X).certify(X)
    data = kind(magnitude * X)
    found = SphericalPCA(**options).fit(data).certify(data)
    assert found.rigorous is True
    assert found.gap == pytest.approx(plain.gap, abs=1e-4)


@pytest.mark.parametrize("magnitude", [1e-17, 1e-100, 1.0])
@pytest.mark.parametrize("order", ["uv", "vu"])
def test_block_constants_never_fall_behind_their_start(X, magnitude, order):
    """With mu = 2 lambda_max the U step is singular but for X, which rounding may swallow."""
    solver = Linearized("block", "block", order=order)
    model = SphericalPCA(3, solver=solver, normalize=False, max_iter=20).fit(magnitude * X)
    assert model.svd_ratio_ <= 1 + 1e-6
    assert model.mean_cosine_ > 0.5


def test_block_constants_do_not_leave_a_line():
    """All rows on one line of tiny length: the start is the optimum."""
    X = np.tile([0.0, 1e-17], (7, 1))
    model = SphericalPCA(1, solver=Linearized("block", "block"), normalize=False, max_iter=1)
    assert model.fit(X).mean_cosine_ == pytest.approx(1)
