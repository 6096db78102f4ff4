"""Wide data in coordinates of the rows: everything is as in the column space."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles

from sphericalpca import SphericalPCA
from sphericalpca.iterate import Monitor, Start, iterate
from sphericalpca.linalg import polar, principal_angles, refined, unit_rows
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem, lengths_of_projections
from sphericalpca.rows import as_rows
from sphericalpca.rowspace import FewRows, LeavesRowSpace, RowSpace
from sphericalpca.solvers import solve
from sphericalpca.solvers.alternating import Alternating
from sphericalpca.solvers.anderson import Anderson

SHAPE, R = (60, 1300), 4


def _text(rng, shape=SHAPE, dtype=np.float64):
    """Sparse rows with a common word, like those of texts."""
    X = sparse.random_array(shape, density=0.03, rng=rng, format="csr", dtype=np.float64)
    X = X + sparse.csr_array(
        (np.ones(shape[0]), (np.arange(shape[0]), np.zeros(shape[0], int))), shape
    )
    return sparse.csr_array(X, dtype=dtype)


def _weighted(rng):
    return {"X": _text(rng), "weight": rng.uniform(0.1, 3.0, SHAPE[0])}


def _heavy(rng):
    weight = np.ones(SHAPE[0])
    weight[3] = 1e30
    return {"X": _text(rng), "weight": weight}


def _centred(rng):
    X = _text(rng)
    return {"X": X, "mean": np.asarray(X.mean(axis=0)).ravel()}


def _duplicates(rng):
    X = _text(rng, (20, SHAPE[1]))
    return {"X": sparse.csr_array(sparse.vstack([X, X, X]))}


def _zero_rows(rng):
    X = _text(rng).toarray()
    X[[0, 7, 30]] = 0.0
    return {"X": sparse.csr_array(X)}


def _scaled(rng):
    scale = sparse.diags_array(rng.uniform(0.1, 10.0, SHAPE[0]))
    return {"X": sparse.csr_array(scale @ _text(rng)), "normalize": False}


CASES = {
    "text": lambda rng: {"X": _text(rng)},
    "dense": lambda rng: {"X": rng.standard_normal(SHAPE)},
    "weighted": _weighted,
    "one heavy row": _heavy,
    "centred": _centred,
    "duplicates": _duplicates,
    "zero rows": _zero_rows,
    "own lengths": _scaled,
    "float32": lambda rng: {"X": _text(rng, dtype=np.float32)},
}


@pytest.fixture(params=CASES)
def spaces(request):
    rng = np.random.default_rng(3)
    rows = as_rows(**CASES[request.param](rng))
    space = RowSpace(rows)
    with parallel():
        A = rng.standard_normal((rows.shape[0], R), dtype=rows.dtype.type)
        U = polar(space.pair(A), space.inner).factor
    return space, Problem(rows), U


def _digits(problem):
    return 200 * np.sqrt(SHAPE[0]) * float(np.finfo(problem.rows.dtype).eps)


def test_a_point_is_what_it_is_in_the_column_space(spaces):
    space, problem, U = spaces
    here, there = space.evaluate(U), problem.evaluate(space.basis(U))
    digits = _digits(problem)
    heaviest = problem.rows.heaviest
    size = np.linalg.norm(there.gradient)
    assert here.value == pytest.approx(there.value, rel=digits)
    assert here.cosines == pytest.approx(there.cosines, rel=digits)
    assert here.residual == pytest.approx(there.residual, abs=digits)
    np.testing.assert_allclose(here.moment, there.moment, atol=digits * np.abs(there.moment).max())
    # From squares, of which small ones keep half their digits.
    assert here.delta == pytest.approx(there.delta, abs=np.sqrt(digits) * there.value)
    np.testing.assert_allclose(
        space.rows.correlate(here.gradient[: SHAPE[0]]) * heaviest,
        there.gradient,
        atol=digits * size,
    )
    np.testing.assert_allclose(
        space.rows.correlate(here.tangent[: SHAPE[0]]) * heaviest, there.tangent, atol=digits * size
    )
    # The second halves are the projections of the first.
    for pair in (U, here.gradient, here.tangent):
        projections = problem.rows.project(problem.rows.correlate(pair[: SHAPE[0]]))
        scale = np.abs(pair).max() + np.abs(projections).max()
        np.testing.assert_allclose(pair[SHAPE[0] :], projections, atol=10 * digits * scale)


@pytest.mark.parametrize("solver", [Anderson(), Alternating()])
def test_both_spaces_lead_to_the_same_subspace(spaces, solver):
    space, problem, U = spaces
    if problem.rows.heaviest > 1e9:
        pytest.skip("one row is all there is: no coordinates for more components")
    tol = 1e-4 if problem.rows.dtype == np.float32 else 1e-7
    options = {"tol": tol, "max_iter": 3000}
    with parallel():
        here = iterate(space, solver, Start(U), **options)
        there = iterate(problem, solver, Start(refined(space.basis(U))), **options)
    digits = 1e-5 if problem.rows.dtype == np.float32 else 1e-10
    assert here.value == pytest.approx(there.value, rel=digits)
    assert principal_angles(here.U, there.U).max() < 30 * tol
    # What is reported is what the column space finds at the same subspace.
    check = problem.evaluate(here.U)
    assert check.residual <= 1.5 * tol + _digits(problem)
    np.testing.assert_allclose(here.U.T @ here.U, np.eye(R), atol=_digits(problem))


def test_rows_that_project_to_nothing_leave_the_saddle_there_too():
    e = np.eye(3, 1300)
    X = np.vstack([[e[0]] * 10, [e[1]] * 9])
    found = solve(Problem(as_rows(X)), 1, solver=Anderson(), rng=np.random.default_rng(0))
    assert found.solution.value > 13.4


def test_more_components_than_the_rows_span_are_found_in_the_column_space():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 1300))
    with pytest.raises(np.linalg.LinAlgError), parallel():
        polar(RowSpace(as_rows(X)).random(5, rng), RowSpace(as_rows(X)).inner)
    model = SphericalPCA(5, random_state=0).fit(X)
    assert model.mean_cosine_ == pytest.approx(1.0)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-10)


def test_a_way_that_leaves_the_row_space_is_told():
    assert LeavesRowSpace(np.eye(2)).U.shape == (2, 2)
    assert LeavesRowSpace().U is None


@pytest.mark.parametrize("float_type", [np.float32, np.float64])
def test_a_fit_of_wide_rows_is_as_good_as_that_of_another_solver(float_type):
    X = _text(np.random.default_rng(1), (300, 2000), float_type)
    model = SphericalPCA(5, random_state=0, tol=1e-5).fit(X)
    other = SphericalPCA(5, random_state=0, tol=1e-5, solver="newton", init=model.components_.T)
    assert RowSpace.suits(as_rows(X))
    assert other.fit(X).mean_cosine_ == pytest.approx(model.mean_cosine_, rel=1e-5)
    np.testing.assert_allclose(model.fit_transform(X), model.transform(X), atol=1e-6)


def _few_long_rows(rng, kind):
    X = rng.standard_normal((40, 1100)) * np.geomspace(1.0, 0.05, 1100)
    if kind == "duplicates":
        X[20:] = X[:20]
    elif kind == "zero rows":
        X[::7] = 0.0
    elif kind == "sparse":
        return sparse.csr_array(X * (rng.random(X.shape) < 0.2))
    return X.astype(np.float32) if kind == "float32" else X


@pytest.mark.parametrize("kind", ["plain", "duplicates", "zero rows", "sparse", "float32"])
@pytest.mark.parametrize("options", [{}, {"center": True}, {"normalize": False}])
@pytest.mark.filterwarnings("ignore::sphericalpca.exceptions.NoDirectionWarning")
# In float32 rounding may end a run before a residual of 1e-6.
@pytest.mark.filterwarnings("ignore::sphericalpca.estimators.monitoring.UnfinishedFitWarning")
def test_few_long_rows_have_the_same_fit_by_all_their_products(kind, options, rng, monkeypatch):
    """In coordinates from the rows' Gram matrix, and with it forbidden."""
    X, weight = _few_long_rows(rng, kind), rng.random(40) + 0.1
    fits = []
    for suits in (True, False):
        monkeypatch.setattr(FewRows, "suits", staticmethod(lambda *_, suits=suits: suits))
        model = SphericalPCA(3, init="svd", tol=1e-6, max_iter=2000, random_state=0, **options)
        fits.append(model.fit(X, sample_weight=weight))
    few, long = fits
    assert few.mean_cosine_ == pytest.approx(long.mean_cosine_, rel=1e-5)
    assert few.loss_ == pytest.approx(long.loss_, rel=1e-4)
    np.testing.assert_allclose(few.components_ @ few.components_.T, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(subspace_angles(few.components_.T, long.components_.T), 0, atol=1e-3)
    assert few.n_passes_ < long.n_passes_


def test_the_ratio_to_the_svd_is_exact_for_few_long_rows(rng):
    X = unit_rows(rng.standard_normal((300, 1500)))[0]
    model = SphericalPCA(5).fit(X)
    E = np.linalg.svd(X, full_matrices=False)[2][:5]
    svd = np.linalg.norm(X @ E.T, axis=1).mean()
    assert model.svd_ratio_ == pytest.approx(svd / model.mean_cosine_, rel=5e-6)


def test_callbacks_see_the_subspace_of_the_long_rows(rng):
    class Shapes(Monitor):
        seen: ClassVar[set[tuple[int, ...]]] = set()

        def end(self, state):
            self.seen.add(state.U.shape)
            return False

    problem = Problem(as_rows(rng.standard_normal((30, 1100))))
    solve(problem, 2, solver=Anderson(), rng=rng, monitor=Shapes())
    assert Shapes.seen == {(1100, 2)}


def test_more_components_than_few_rows_span(rng):
    X = np.repeat(rng.standard_normal((3, 1100)), 5, axis=0)
    model = SphericalPCA(4).fit(X)
    assert model.mean_cosine_ == pytest.approx(1.0, abs=1e-6)


def test_lengths_of_projections_are_those_of_the_column_space(rng):
    rows = as_rows(_text(rng))
    space = RowSpace(rows)
    U = polar(space.random(R, rng), space.inner).factor
    found = lengths_of_projections(space, U)
    np.testing.assert_allclose(found, lengths_of_projections(Problem(rows), space.basis(U)))
