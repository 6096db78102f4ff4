"""The paper's claims and slips, each put to the test, and the page that lists them.

Here matrices are as the paper has them: samples are columns, X is m x n, V is r x n.
"""

from __future__ import annotations

import math
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from paper.ceiling import nmi_ceiling
from sphericalpca.certificate import certify
from sphericalpca.convergence import analyse, fit_rate
from sphericalpca.datasets import make_toy
from sphericalpca.iterate import iterate
from sphericalpca.linalg import polar
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Linearized, Start, lipschitz_constant

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "paper.md"

EQUATIONS = 44
NORMALISATIONS = ("max", "arithmetic", "geometric", "min")


# The page


@pytest.fixture(scope="module")
def page():
    return PAGE.read_text(encoding="utf-8")


def test_every_test_object_and_file_that_the_page_names_exists(page):
    tests = set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page))
    objects = set(re.findall(r"`(sphericalpca(?:\.\w+)+)`", page))
    assert len(tests) > 40
    assert len(objects) > 20
    for path, test in tests:
        assert f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8"), (
            f"{path} has no {test}"
        )
    for name in objects:
        assert _resolve(name) is not None
    files = set(re.findall(r"`((?:tests|src|docs)/[\w/.]+\.\w+)(?:::\w+)?`", page))
    files |= {f"docs/{link}" for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", page)}
    for name in files:
        assert (ROOT / name).is_file(), name
    for quoted in re.findall(r"`([^`\n]+)`", page):  # nothing in backticks escapes these checks
        if quoted.startswith("tests/") or "::" in quoted:
            assert re.fullmatch(r"tests/[\w/]+\.py(::\w+)?", quoted), quoted
        if quoted.startswith("sphericalpca."):
            assert re.fullmatch(r"sphericalpca(\.\w+)+", quoted), quoted


def _resolve(name):
    """The object of a dotted name: a module, or an attribute of one."""
    try:
        return pkgutil.resolve_name(name)
    except AttributeError:
        owner, _, field = name.rpartition(".")
        return pkgutil.resolve_name(owner).__dataclass_fields__[field]


def test_every_numbered_item_of_the_paper_has_its_row(page):
    items, _ = page.split("## Slips")
    first = " ".join(re.findall(r"^\| ([^|]+?) \|", items, re.MULTILINE))
    listed = set()
    for low, high in re.findall(r"\((\d+)\)(?: to \((\d+)\))?", first):
        listed |= set(range(int(low), int(high or low) + 1))
    assert listed == set(range(1, EQUATIONS + 1))
    for item in (
        *("Lemma 3.1", "Lemma 4.1", "Proposition 4.1", "Definition 4.1", "Definition 4.2"),
        *("Theorem 4.1", "Theorem 4.2", "Theorem 4.3", "Algorithm 1"),
        *("Remark 2.1", "Remark 3.1", "Remark 4.1"),
        *("Figure 1", "Figure 2", "Figure 3", "Table 1", "Table 2"),
    ):
        assert item in first, item


# What the paper says, and what is so


def _unit_columns(V):
    return V / np.linalg.norm(V, axis=0)


@pytest.fixture(params=[(6, 9, 2), (3, 12, 1)], ids=str)
def point(request, random_U, rng):
    """X, and a feasible pair (U, V)."""
    m, n, r = request.param
    V = _unit_columns(rng.standard_normal((r, n)))
    return rng.standard_normal((m, n)), random_U(m, r), V


def _h(X, U, V):
    return ((X - U @ V) ** 2).sum()


def _gradient(X, U, V):
    R = U @ V - X
    return 2 * R @ V.T, 2 * U.T @ R


def _printed_form(X, U, V, D, E):
    """Eq. (14) as printed, at the direction (D, E)."""
    return ((D @ V + U @ E) ** 2).sum() + 2 * ((U @ V - X) * (D @ E)).sum()


def _hessian(X, U, V):
    """Matrix of the true quadratic form, twice the printed one, by polarisation."""
    size = U.size + V.size

    def form(d):
        return 2 * _printed_form(
            X, U, V, d[: U.size].reshape(U.shape), d[U.size :].reshape(V.shape)
        )

    basis = np.eye(size)
    alone = np.array([form(e) for e in basis])
    both = np.array([[form(e + f) for f in basis] for e in basis])
    return (both - alone[:, None] - alone) / 2


def _constant(X, U, V):
    """L_c of Eq. (15)."""
    (r, n), size = V.shape, np.linalg.norm(X)
    return 2 * (r + n + math.sqrt(r * n) + size)


def test_at_the_best_components_the_loss_is_the_energy_less_the_trace(point):
    X, U, _ = point
    trace = np.trace(U.T @ X @ X.T @ U)
    assert _h(X, U, U.T @ X) == pytest.approx((X**2).sum() - trace)


def test_the_components_of_pca_are_UtX_and_XtU_has_another_shape(point, rng):
    X, U, V = point
    best = np.linalg.lstsq(U, X, rcond=None)[0]
    np.testing.assert_allclose(U.T @ X, best, atol=1e-12)
    np.testing.assert_allclose(_gradient(X, U, U.T @ X)[1], 0.0, atol=1e-12)
    assert (X.T @ U).shape == V.shape[::-1] != V.shape


def test_the_closed_steps_minimise_the_linearised_problems(point, rng, random_U):
    X, U, V = point
    (m, r), n, lam, mu = U.shape, V.shape[1], 7.0, 11.0
    G = _gradient(X, U, V)[0]
    best_U = polar(2 * (X - U @ V) @ V.T + mu * U).factor
    others = [random_U(m, r, seed) for seed in range(200)] + [U]
    cost = [((A - U) * G).sum() + mu / 2 * ((A - U) ** 2).sum() for A in [best_U, *others]]
    assert cost[0] <= min(cost)
    H = _gradient(X, best_U, V)[1]
    best_V = _unit_columns(2 * best_U.T @ X + (lam - 2) * V)
    for other in [V, *(_unit_columns(rng.standard_normal((r, n))) for _ in range(200))]:
        ours, theirs = (
            ((B - V) * H).sum(axis=0) + lam / 2 * ((B - V) ** 2).sum(axis=0)
            for B in (best_V, other)
        )
        assert (ours <= theirs + 1e-12).all()


def test_the_printed_hessian_is_half_of_the_second_difference(point, rng):
    X, U, V = point
    D, E, t = rng.standard_normal(U.shape), rng.standard_normal(V.shape), 1e-3
    ahead, behind = (_h(X, U + s * D, V + s * E) for s in (t, -t))
    second = (ahead + behind - 2 * _h(X, U, V)) / t**2
    printed = _printed_form(X, U, V, D, E)
    assert second == pytest.approx(2 * printed, rel=1e-4)
    assert second != pytest.approx(printed, rel=0.1)


def test_the_papers_constant_bounds_the_true_hessian_on_the_sets_and_between(point, rng, random_U):
    """The sets are not convex, so segments between their points must be bounded too."""
    X, U, V = point
    others = [
        (random_U(*U.shape, seed), _unit_columns(rng.standard_normal(V.shape))) for seed in range(5)
    ]
    for X_ in (X, 1e-3 * X, -U @ V, -10 * U @ V):
        bound = _constant(X_, U, V) * (1 + 1e-12)
        assert np.linalg.norm(_hessian(X_, U, V), 2) <= bound
        for A, B in others:
            middle = _hessian(X_, (U + A) / 2, (V + B) / 2)
            assert np.linalg.norm(middle, 2) <= bound


def test_half_of_the_constant_would_be_too_small():
    """The bound that the printed Hessian would give is not one for the true Hessian."""
    X, U, V = np.full((1, 9), 1e-3), np.ones((1, 1)), np.ones((1, 9))
    size = np.linalg.norm(_hessian(X, U, V), 2)
    assert _constant(X, U, V) / 2 < size <= _constant(X, U, V)


def test_the_gradient_is_lipschitz_with_the_papers_constant(point, rng, random_U):
    X, U, V = point
    problem = Problem(as_rows(X.T, normalize=False))
    bound = lipschitz_constant(problem, U.shape[1])
    assert bound == pytest.approx(_constant(X, U, V))
    for seed in range(50):
        A, B = random_U(*U.shape, seed), _unit_columns(V + rng.standard_normal(V.shape))
        difference = [g - k for g, k in zip(_gradient(X, U, V), _gradient(X, A, B), strict=True)]
        moved = math.hypot(np.linalg.norm(U - A), np.linalg.norm(V - B))
        assert math.hypot(*map(np.linalg.norm, difference)) <= bound * moved


@pytest.mark.parametrize(("m", "r"), [(6, 2), (5, 4), (3, 1)])
def test_the_matrix_of_the_lemma_is_not_orthogonal_but_the_lemma_holds(m, r, rng, random_U):
    M = rng.standard_normal((m, r))
    A, sigma, Bt = np.linalg.svd(M, full_matrices=False)
    for seed in range(50):
        U = random_U(m, r, seed)
        P = Bt @ U.T @ A
        assert np.linalg.norm(P @ P.T - np.eye(r)) > 1e-3
        assert np.diag(P).max() <= 1 + 1e-12
        assert (U * M).sum() == pytest.approx((np.diag(P) * sigma).sum())
        assert (U * M).sum() <= sigma.sum() + 1e-12
    assert ((A @ Bt) * M).sum() == pytest.approx(sigma.sum())
    np.testing.assert_allclose(polar(M).factor, A @ Bt, atol=1e-12)


def test_the_matrix_of_the_lemma_is_orthogonal_for_square_or_full_factors(rng, random_U):
    A, _, Bt = np.linalg.svd(rng.standard_normal((4, 4)))
    P = Bt @ random_U(4, 4).T @ A
    np.testing.assert_allclose(P @ P.T, np.eye(4), atol=1e-12)
    # The full decomposition has PP' = I too, but then AB' is no product.
    A, _, Bt = np.linalg.svd(rng.standard_normal((6, 2)), full_matrices=True)
    P = Bt @ random_U(6, 2).T @ A
    np.testing.assert_allclose(P @ P.T, np.eye(2), atol=1e-12)
    with pytest.raises(ValueError, match="matmul"):
        A @ Bt


@pytest.fixture
def flip():
    """Algorithm 1 on 100 points -1 on a line, from u = 1 and v = 1: u flips in one step."""
    problem = Problem(as_rows(-np.ones((100, 1)), normalize=False))
    start = Start(np.ones((1, 1)), np.ones((100, 1)))
    found = iterate(problem, Linearized(399.0, 399.0), start, tol=0.0, max_iter=10)
    h_0 = problem.loss(-100.0)
    assert h_0 == 400.0
    return found, h_0


def test_lambda_alone_is_not_the_constant_of_sufficient_decrease(flip):
    found, _ = flip
    theory = analyse(found.history, found.constants)
    assert theory.applies
    assert theory.sufficient_decrease.all()
    assert theory.required_decrease <= found.history["decrease_ratio"][0] < theory.lam / 2


def test_lambda_alone_is_not_the_constant_on_data_either(zoo, make_problem, random_U):
    problem = make_problem(zoo["noise"])
    bound = lipschitz_constant(problem, 3)
    solver = Linearized(lam=50 * bound, mu=1.01 * bound)
    found = iterate(problem, solver, Start(random_U(7, 3)), tol=0.0, max_iter=20)
    assert analyse(found.history, found.constants).sufficient_decrease.all()
    assert (found.history["decrease_ratio"] < found.constants["lam"] / 2).all()


def test_the_sum_of_squared_steps_needs_a_factor_two(flip):
    found, h_0 = flip
    squares = (found.history["delta_U"] ** 2 + found.history["delta_V"] ** 2).sum()
    margin = min(found.constants["lam"], found.constants["mu"]) - found.constants["lipschitz"]
    assert h_0 < margin * squares <= 2 * h_0


def test_the_loss_falls_where_the_paper_prints_that_it_rises(zoo, run):
    found, _ = run("theory uv", "noise")
    theory = analyse(found.history, found.constants)
    change = np.diff(found.history["loss"])
    steps = np.diff(theory.path_length)
    assert (steps > 0).all()
    assert (change < 0).all()
    assert (change < theory.required_decrease * steps**2).all()


def test_the_loss_does_not_tend_to_zero(run):
    """A certificate bounds f from above on all subspaces, hence h from below on all pairs."""
    found, problem = run("theory uv", "noise")
    certificate = certify(problem, found.U)
    assert certificate.rigorous
    floor = problem.loss(certificate.bound)
    assert floor > 0.1 * found.history["loss"][-1]
    assert (found.history["loss"] >= floor).all()


def test_from_components_that_are_not_unit_the_first_step_may_raise_the_loss(zoo, make_problem):
    case = zoo["noise"]
    problem = make_problem(case)
    X = case.X / np.linalg.norm(case.X, axis=1, keepdims=True)
    U = np.linalg.svd(X, full_matrices=False)[2][:3].T
    found = iterate(problem, Linearized(), Start(U, X @ U), tol=0.0, max_iter=20)
    theory = analyse(found.history, found.constants)
    assert theory.applies
    assert found.history["decrease_ratio"][0] < 0
    assert not theory.sufficient_decrease[0]
    assert theory.sufficient_decrease[1:].all()


def test_steps_vanish_and_the_path_is_finite(run):
    found, _ = run("theory uv", "spiked", init="random", max_iter=2500)
    path = analyse(found.history, found.constants).path_length
    steps = np.diff(path)
    assert steps[-1] < 1e-4 * steps[0]
    assert path[-1] - path[len(path) // 2] < 1e-2 * path[-1]
    assert found.residual < 1e-4


@pytest.mark.parametrize("theta", [0.25, 0.5, 0.6, 0.75])
def test_the_constant_of_the_rate_needs_the_exponent_too(theta):
    """f = |x|^p has exponent theta = 1 - 1/p with C_2 = 1/p; let Eq. (31) hold with equality."""
    p, x, beta = 1 / (1 - theta), 0.01, 1.0
    C_2, f, distance = 1 / p, x**p, p * x ** (p - 1)
    assert f**theta == pytest.approx(C_2 * distance)
    power = (1 - theta) / theta
    sides = []
    for C_3 in (0.1 / C_2, 10 / C_2):
        step = distance / C_3
        assert beta * f ** (1 - theta) == pytest.approx(beta * (C_2 * C_3) ** power * step**power)
        sides.append(beta * f ** (1 - theta) <= (1 + 1e-9) * beta * C_2 * C_3 * step**power)
    # As printed it holds for every C_3 only where the exponent is 1.
    assert all(sides) == (theta == 0.5)


def test_the_larger_exponent_serves_only_where_losses_differ_by_less_than_one():
    small, large = 0.25, 0.5
    for gap, holds in ((0.1, True), (16.0, False)):
        assert (gap**large <= gap**small) == holds


def test_the_factor_of_the_linear_case():
    for alpha in (0.1, 1.0, 20.0):
        rho = (1 + alpha) / (2 + alpha)
        P = rho ** np.arange(20)
        np.testing.assert_allclose(P[1:], (1 + alpha) * (P[:-1] - P[1:]))
        assert 0 < rho < 1


def _slowest(theta, steps, alpha=1.0):
    """P(k) that meets the recursion of Case III with equality."""
    power, P = (1 - theta) / theta, [1.0]
    for _ in range(steps):
        last = P[-1]
        P.append(brentq(lambda x, y=last: x - (1 + alpha) * (y - x) ** power, 0, last, xtol=1e-15))
    return np.array(P)


@pytest.mark.parametrize("theta", [0.6, 0.75, 0.9])
def test_the_exponent_of_the_sublinear_case(theta):
    P = _slowest(theta, 3000)
    k = np.arange(1500, 3000)
    slope = np.polyfit(np.log(k), np.log(P[k]), 1)[0]
    assert slope == pytest.approx(-(1 - theta) / (2 * theta - 1), rel=0.05)
    nu = (1 - 2 * theta) / (1 - theta)
    assert np.diff(P**nu).min() > 0


def test_summing_the_sublinear_case_starts_from_the_first_term_not_the_last():
    theta, zeta = 0.75, 0.5
    nu = (1 - 2 * theta) / (1 - theta)
    k = np.arange(1, 50)
    P = (zeta * np.arange(50) + 1.0) ** (1 / nu)  # P(k)^nu - P(k-1)^nu = zeta
    np.testing.assert_allclose(P[1:], (P[0] ** nu + zeta * k) ** (1 / nu))
    printed = (P[:-1] ** nu + zeta * k) ** (1 / nu)
    assert (P[2:] > printed[1:]).all()


# The experiments

TOY = {"order": "vu"}  # V first, as in the authors' program


def _toy_run(solver, steps, *, normalize, monitor=None):
    X, _ = make_toy(100, random_state=0)
    V = np.random.default_rng(0).uniform(size=(200, 2))
    problem, start = Problem(as_rows(X, normalize=normalize)), Start(np.eye(3)[:, :2], V)
    return iterate(problem, solver, start, tol=0.0, max_iter=steps, monitor=monitor)


def test_below_the_constant_algorithm_1_may_cycle(recorder):
    """Unit rows of the toy at lam = mu = 75: U jumps to and fro between two places."""
    monitor = recorder()
    found = _toy_run(Linearized(75.0, 75.0, **TOY), 2500, monitor=monitor, normalize=True)
    *_, before_last, last, now = (state.U for state in monitor.states)
    assert np.linalg.norm(now - last) > 1
    assert np.linalg.norm(now - before_last) < 1e-3
    assert found.constants["lipschitz"] > 75
    proven = _toy_run(Linearized(**TOY), 1500, normalize=True)
    assert proven.history["delta_U"][-1] < 1e-4
    assert proven.history["loss"][-1] < 0.1 * found.history["loss"][-1]


@pytest.mark.parametrize(
    ("solver", "steps", "normalize"),
    [(Linearized(**TOY), 1500, True), (Linearized(75.0, 75.0, **TOY), 300, False)],
    ids=["proven_constants_unit_rows", "75_raw_rows"],
)
def test_where_the_toy_converges_it_does_so_at_a_linear_rate(solver, steps, normalize):
    found = _toy_run(solver, steps, normalize=normalize)
    rate = fit_rate(np.hypot(found.history["delta_U"], found.history["delta_V"]))
    assert rate.kind == "linear"
    assert rate.rho < 0.999


DIABETES = {
    "K-means": (0.775, 0.632),
    "MUA": (0.788, 0.654),
    "PCA": (0.761, 0.613),
    "R1-PCA": (0.808, 0.631),
    "K-SVD": (0.827, 0.672),
    "Spherical PCA": (0.832, 0.680),
}
IMPOSSIBLE = {"K-means", "MUA", "PCA"}


@pytest.mark.parametrize("method", DIABETES)
def test_the_pairs_of_table_2_against_the_ceilings_of_two_clusters(method, page):
    accuracy, printed = DIABETES[method]
    single, mean = (
        [nmi_ceiling(accuracy, (500, 268), normalisation=n, mean=over_runs) for n in NORMALISATIONS]
        for over_runs in (False, True)
    )
    least = printed - 0.0005
    assert not any(least <= ceiling for ceiling in single)
    assert {least > ceiling for ceiling in mean} == {method in IMPOSSIBLE}
    cells = re.search(rf"^\| {method} \| (0\..*) \|$", page, re.MULTILINE)[1].split(" | ")
    assert cells == [
        f"{accuracy:.3f}",
        f"{printed:.3f}",
        "none has it" if math.isnan(max(single)) else f"{max(single):.3f}",
        f"{max(mean):.3f}",
        "impossible" if method in IMPOSSIBLE else "only a mean of very unequal runs",
    ]
    if method == "Spherical PCA":
        stated = [f"{single[NORMALISATIONS.index(kind)]:.2f}" for kind in ("arithmetic", "min")]
        assert stated == ["0.48", "0.50"]
        assert all(f"{ceiling} " in " ".join(page.split()) for ceiling in stated)


def test_two_accuracies_of_table_2_belong_to_no_single_clustering():
    for accuracy, _ in (DIABETES["PCA"], DIABETES["R1-PCA"]):
        assert accuracy not in np.round(np.arange(769) / 768, 3)
        assert math.isnan(nmi_ceiling(accuracy, (500, 268)))
