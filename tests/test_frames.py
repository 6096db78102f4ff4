"""How deep a fit is: functions of the package between `fit` and a product with the rows.

What counts is a product one factor of which is X itself, X U or X'V: these take nearly all the
time of a fit, so they are where readers of a profile or a traceback end.  Products of small
matrices (the moment V'WV, polar factors, r x r work) do not count, nor those of the problem within
a subspace, which has rows of its own; nor does the search for a start, which is not a solver's.
"""

import inspect
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from sphericalpca import SphericalPCA
from sphericalpca.products import times
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers.newton import maximise_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Frames from `SphericalPCA.fit` to `products.times`, both of them counted.
MOST = 12
# A Hessian product is asked for within a second loop, the conjugate gradients that solve Newton's
# model: that loop, the model, and the Hessian on the manifold come on top.
MOST_IN_MODEL = MOST + 3
FIT = inspect.unwrap(SphericalPCA.fit).__code__


def _stack(frame):
    """Our functions from the product up to `fit`."""
    names = []
    while frame is not None and frame.f_code is not FIT:
        if frame.f_globals.get("__name__", "").startswith(("sphericalpca", "contextlib")):
            names.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return (*names, "SphericalPCA.fit")


def _stacks(solver):
    """The ways to all products with the rows."""
    X = np.random.default_rng(0).standard_normal((50, 8)) * np.linspace(2, 1, 8)
    stacks = set()

    def profile(frame, event, _argument):
        if event == "call" and frame.f_code is times.__code__:
            factors = frame.f_locals["A"], frame.f_locals["B"]
            if any(np.may_share_memory(factor, X) for factor in factors):
                stacks.add(_stack(frame))

    model = SphericalPCA(2, solver=solver, init="random", random_state=0, max_iter=50, tol=1e-8)
    with threadpool_limits(1):
        sys.setprofile(profile)
        try:
            model.fit(X)
        finally:
            sys.setprofile(None)
    return stacks


@pytest.mark.parametrize("solver", SOLVERS)
def test_few_functions_lie_between_a_fit_and_its_products(solver):
    stacks = _stacks(solver)
    assert {stack[1] for stack in stacks} == {"Block.project", "Block.correlate"}
    for stack in stacks:
        most = MOST_IN_MODEL if maximise_model.__qualname__ in stack else MOST
        assert len(stack) <= most, " <- ".join(stack)
