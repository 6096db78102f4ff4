"""What holds for every input, with inputs drawn by hypothesis."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from sphericalpca import DataError, SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Linearized, Subspace

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning"),
]

EXPONENTS = {np.float64: (-300, 149), np.float32: (-30, 29)}
fast = settings(max_examples=50, deadline=None, derandomize=True)


@st.composite
def matrices(draw):
    """Few distinct rows, repeated and zeroed, each of its own magnitude."""
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    n, m = draw(st.integers(1, 8)), draw(st.integers(1, 6))
    entry = st.one_of(st.integers(-3, 3), st.floats(0.001, 1), st.floats(-1, -0.001))
    row = st.lists(entry, min_size=m, max_size=m)
    distinct = np.array(draw(st.lists(row, min_size=1, max_size=n)), dtype=np.float64)
    chosen = draw(st.lists(st.integers(0, len(distinct) - 1), min_size=n, max_size=n))
    low, high = EXPONENTS[dtype]
    spread = draw(st.sampled_from([0, 3, high - low]))
    start = draw(st.integers(low, high - spread))
    powers = draw(st.lists(st.integers(start, start + spread), min_size=n, max_size=n))
    alive = draw(st.lists(st.sampled_from([1, 1, 1, 0]), min_size=n, max_size=n))
    scale = np.array([10.0**p for p in powers]) * alive
    return (distinct[chosen] * scale[:, None]).astype(dtype)


@st.composite
def problems(draw):
    X = draw(matrices())
    options = {
        "n_components": draw(st.integers(1, min(X.shape))),
        "normalize": draw(st.booleans()),
        "center": draw(st.booleans()),
        "solver": draw(
            st.sampled_from([*SOLVERS, Subspace(columns=1), Linearized("block", "block")])
        ),
        "init": draw(st.sampled_from(["svd", "random"])),
        "max_iter": draw(st.sampled_from([1, 20])),
        "random_state": 0,
    }
    kind = draw(st.sampled_from([np.asarray, np.asfortranarray, sparse.csr_array]))
    n = len(X)
    weights = st.lists(st.sampled_from([0.0, 0.3, 1.0, 7.0]), min_size=n, max_size=n)
    return kind(X), options, draw(st.none() | weights)


@given(problems())
@fast
@example((np.array([[1e-300, 0.0], [0.0, 1e149]]), {"n_components": 1, "normalize": False}, None))
@example(
    (
        np.full((3, 2), 1e30, dtype=np.float32),
        {"n_components": 1, "normalize": False, "solver": "linearized", "max_iter": 2},
        None,
    )
)
@example((np.full((3, 2), 1e-30, dtype=np.float32), {"n_components": 2}, [1, 0, 7]))
def test_every_fit_answers_or_says_why_not_and_can_be_used(problem):
    X, options, weight = problem
    model = SphericalPCA(**options)
    try:
        V = model.fit_transform(X, sample_weight=weight)
    except DataError as error:
        if "zero" not in str(error):  # no row with a direction and a weight
            raise
        return
    eps = 1e-10 if X.dtype == np.float64 else 1e-4
    assert V.dtype == model.components_.dtype == X.dtype
    lengths = np.linalg.norm(V.astype(np.float64), axis=1)
    assert ((np.abs(lengths - 1) < eps) | (lengths == 0)).all()
    C = model.components_.astype(np.float64)
    np.testing.assert_allclose(C @ C.T, np.eye(len(C)), atol=eps)
    assert -eps <= model.mean_cosine_ <= 1 + eps
    assert (model.component_weights_ >= 0).all()
    assert model.component_weights_.sum() == pytest.approx(1)
    assert (np.diff(model.component_weights_) <= eps).all()
    dense = X.toarray() if sparse.issparse(X) else X
    w = np.ones(len(dense)) if weight is None else np.array(weight)
    size = w @ (np.abs(dense.astype(np.float64)).max(axis=1) ** 2 * dense.shape[1] + 1)
    assert model.loss_ >= -10 * eps * size
    assert np.isfinite(model.loss_)
    assert 0 <= model.residual_ < np.inf
    for name, record in model.history_.items():
        assert not np.isnan(record).any(), name
    np.testing.assert_array_equal(model.transform(X), V)
    assert np.isfinite(model.inverse_transform(V)).all()
    eps = 1e-8 if X.dtype == np.float64 else 1e-3
    assert model.score(X, sample_weight=weight) == pytest.approx(model.mean_cosine_, abs=eps)
    found = model.certify(X, sample_weight=weight)
    assert np.isfinite(found.bound)
    assert found.bound >= found.value >= 0
    assert len(model.truncate(1).transform(X)) == len(V)


@given(matrices())
@fast
def test_rows_are_zero_in_the_result_only_where_they_have_no_direction(X):
    assume(X.any())
    r = min(X.shape)
    V = SphericalPCA(r).fit_transform(X)
    zero = ~X.any(axis=1)
    assert not V[zero].any()
    if r == X.shape[1]:  # the whole space: nothing else can vanish
        assert V[~zero].any(axis=1).all()


def projector(X, weight=None, **options):
    """Where 15 iterations lead: no two ways to compute it may part by then."""
    model = SphericalPCA(3, max_iter=15, tol=0, **options).fit(X, sample_weight=weight)
    return model.components_.T @ model.components_


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
@settings(max_examples=20, deadline=None, derandomize=True)
def test_what_says_nothing_of_directions_does_not_matter(seed, normalize, center):
    """The order of rows, a column of zeros; a shift before centring, signs and lengths without."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 6)) * np.arange(6, 0, -1)
    options = {"normalize": normalize, "center": center}
    P, times = projector(X, **options), rng.integers(0, 4, size=25)
    same = [X[rng.permutation(25)], np.insert(X, 6, 0.0, axis=1)]
    if center:
        same.append(X + 10 * rng.standard_normal(6))
    else:
        lengths = 10 ** rng.uniform(-100, 100, size=(25, 1)) if normalize else 1.0
        same.append(X * rng.choice([-1.0, 1.0], size=(25, 1)) * lengths)
    for changed in same:
        found = projector(changed, **options)
        np.testing.assert_allclose(found[:6, :6], P, atol=1e-6)
        np.testing.assert_allclose(found[6:], 0, atol=1e-12)
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    np.testing.assert_allclose(projector(X @ Q, **options), Q.T @ P @ Q, atol=1e-7)
    # A weight is a number of copies.
    assume(np.count_nonzero(times) > 6)
    copied = projector(np.repeat(X, times, axis=0), **options)
    np.testing.assert_allclose(copied, projector(X, times, **options), atol=1e-7)
