"""The optimum of a general manifold optimiser is ours."""

from __future__ import annotations

import numpy as np
import pytest

from sphericalpca.solvers import Alternating, Linearized, solve

pymanopt = pytest.importorskip("pymanopt")
anp = pytest.importorskip("autograd.numpy")

STARTS = 6


def _pymanopt_best(X, w, r, manifold):
    """The largest f that trust regions find from several starts."""

    @pymanopt.function.autograd(manifold)
    def cost(U):
        return -anp.sum(w * anp.sqrt(anp.sum((X @ U) ** 2, axis=1)))

    optimizer = pymanopt.optimizers.TrustRegions(
        verbosity=0, min_gradient_norm=1e-6, max_iterations=200, max_time=20
    )
    problem = pymanopt.Problem(manifold, cost)
    rng = np.random.default_rng(0)
    starts = (np.linalg.qr(rng.standard_normal((X.shape[1], r)))[0] for _ in range(STARTS))
    return max(-optimizer.run(problem, initial_point=U).cost for U in starts)


@pytest.mark.parametrize("kind", ["Grassmann", "Stiefel"])
@pytest.mark.parametrize("name", ["spiked", "text", "weighted", "long and short", "noise"])
def test_the_optimum_is_the_one_pymanopt_finds(name, kind, zoo, make_problem, plain):
    case = zoo[name]
    explicit = plain.of(case)
    manifold = getattr(pymanopt.manifolds, kind)(case.X.shape[1], case.r)
    theirs = _pymanopt_best(explicit.X, explicit.w, case.r, manifold)
    for solver in (Alternating(), Linearized("block", "block")):
        options = {"n_init": 8, "tol": 1e-6, "max_iter": 3000, "rng": np.random.default_rng(0)}
        ours = solve(make_problem(case), case.r, solver=solver, **options).solution.value
        assert ours == pytest.approx(theirs, rel=1e-6)
