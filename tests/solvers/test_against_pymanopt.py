"""The optimum of a general manifold optimiser is ours."""

from __future__ import annotations

import numpy as np
import pytest

from sphericalpca.linalg import principal_angles
from sphericalpca.solvers import Alternating, Linearized, Newton, solve

# Trust regions from a few starts find the optimum of these; the last comes from the SVD's subspace.
CASES = [
    ("spiked", "Grassmann"),
    ("text", "Grassmann"),
    ("weighted", "Stiefel"),
    ("long and short", "Grassmann"),
    ("noise", "Stiefel"),
]


def _pymanopt_best(X, w, r, manifold):
    """The best of several runs of trust regions."""
    # Not while tests are collected: it imports torch.
    pymanopt, anp = pytest.importorskip("pymanopt"), pytest.importorskip("autograd.numpy")

    @pymanopt.function.autograd(manifold)
    def cost(U):
        return -anp.sum(w * anp.sqrt(anp.sum((X @ U) ** 2, axis=1)))

    optimizer = pymanopt.optimizers.TrustRegions(
        verbosity=0, min_gradient_norm=1e-7, max_iterations=200, max_time=60
    )
    problem, rng = pymanopt.Problem(manifold, cost), np.random.default_rng(0)
    starts = [np.linalg.qr(rng.standard_normal((X.shape[1], r)))[0] for _ in range(3)]
    starts += [np.linalg.svd(X)[2][:r].T]
    runs = [optimizer.run(problem, initial_point=U) for U in starts]
    return min(runs, key=lambda run: run.cost)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_the_optimum_is_the_one_pymanopt_finds(name, kind, zoo, make_problem, plain):
    case = zoo[name]
    pymanopt = pytest.importorskip("pymanopt")
    explicit = plain.of(case)
    manifold = getattr(pymanopt.manifolds, kind)(case.X.shape[1], case.r)
    theirs = _pymanopt_best(explicit.X, explicit.w, case.r, manifold)
    for solver, tol, rel in (
        (Alternating(), 1e-6, 1e-6),
        (Linearized("block", "block"), 1e-6, 1e-6),
        (Newton(), 1e-10, 1e-11),
    ):
        options = {"n_init": 8, "tol": tol, "max_iter": 3000, "rng": np.random.default_rng(0)}
        ours = solve(make_problem(case), case.r, solver=solver, **options).solution
        assert ours.value == pytest.approx(-theirs.cost, rel=rel)
    assert principal_angles(ours.U, theirs.point).max() < 1e-5
