"""No run outside the theorem's conditions can be read as one that obeys the theorem."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sphericalpca import SphericalPCA
from sphericalpca.convergence import analyse
from sphericalpca.solvers import Linearized


def _analysed(**constants):
    model = SphericalPCA(10, solver=Linearized(**constants), tol=0, max_iter=8, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all steps are spent, as tol=0 asks for
        model.fit(load_digits().data[:300])
    return model, analyse(model.history_, model.constants_)


@pytest.mark.parametrize("constant", [1.0, 75.0, 300.0])
def test_constants_below_the_condition_never_have_a_sufficient_decrease(constant):
    model, theory = _analysed(lam=constant, mu=constant)
    assert constant < theory.lipschitz
    assert not theory.applies
    assert theory.required_decrease < 0
    assert theory.sufficient_decrease.shape == (model.n_iter_,)
    assert not theory.sufficient_decrease.any()


def test_both_constants_count():
    bound = _analysed()[1].lipschitz
    for lam, mu in ((2 * bound, 0.5 * bound), (0.5 * bound, 2 * bound)):
        assert not _analysed(lam=lam, mu=mu)[1].sufficient_decrease.any()
    assert _analysed(lam=2 * bound, mu=2 * bound)[1].sufficient_decrease.all()


@pytest.mark.parametrize("mu", [11.0, 14.0])
@pytest.mark.parametrize("lam", [10.5, 50.0])
def test_a_sufficient_step_never_raises_the_loss_by_more_than_rounding(lam, mu, rng):
    steps, decrease = rng.uniform(0.01, 1, 50), rng.normal(0.1, 1.0, 50)
    constants = {"lipschitz": 10.0, "lam": lam, "mu": mu, "rounding": 1e-13}
    history = {
        "delta_U": 0.6 * steps,
        "delta_V": 0.8 * steps,
        "decrease_ratio": decrease / steps**2,
        "subgradient": np.ones(50),
    }
    for outside in ({}, {"lam": 1.0}, {"mu": 9.9}, {"mu": math.nan}, {"lam": 10.0}):
        found = analyse(history, constants | outside)
        assert (decrease[found.sufficient_decrease] >= -1e-13).all()
        assert found.sufficient_decrease.any() == found.applies
