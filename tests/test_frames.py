"""How deep a fit is: functions of the package between `fit` and the matrix product."""

import inspect
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from sphericalpca import SphericalPCA
from sphericalpca.problem import Problem
from sphericalpca.products import times

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Frames from `SphericalPCA.fit` to `products.times`, both of them counted.
MOST = 12
FIT = inspect.unwrap(SphericalPCA.fit).__code__


def _is_ours(frame):
    module = frame.f_globals.get("__name__", "")
    return module.startswith("sphericalpca") or module == "contextlib"


def _stack(frame):
    """Our functions from the product up to `fit`."""
    names = []
    while frame is not None and frame.f_code is not FIT:
        if _is_ours(frame):
            names.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return [*names, "SphericalPCA.fit"]


def _deepest(solver, X):
    """The longest way to a product X U that a solver asks for by `Problem.evaluate`."""
    stacks = []

    def profile(frame, event, _argument):
        if event == "call" and frame.f_code is times.__code__:
            stack = _stack(frame)
            if stack[1] == "Block.project" and Problem.evaluate.__qualname__ in stack:
                stacks.append(stack)

    model = SphericalPCA(2, solver=solver, init="random", random_state=0, max_iter=5, tol=1e-2)
    with threadpool_limits(1):
        sys.setprofile(profile)
        try:
            model.fit(X)
        finally:
            sys.setprofile(None)
    return max(stacks, key=len)


@pytest.mark.parametrize("solver", ["alternating", "anderson", "newton"])
def test_few_functions_lie_between_a_fit_and_its_products(solver):
    X = np.random.default_rng(0).standard_normal((50, 8)) * np.linspace(2, 1, 8)
    stack = _deepest(solver, X)
    assert len(stack) <= MOST, " <- ".join(stack)


def test_a_step_lies_right_between_the_loop_and_the_problem():
    X = np.random.default_rng(0).standard_normal((50, 8))
    for solver in ("alternating", "anderson", "newton"):
        stack = _deepest(solver, X)
        above = stack[stack.index(Problem.evaluate.__qualname__) + 1 :][:3]
        assert above[0].endswith((".step", ".init"))
        assert above[1:] == ["iterate", "solve"]
