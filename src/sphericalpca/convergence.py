"""The quantities of the paper's convergence section, from the history of Algorithm 1.

With W = (U, V), step lengths ||W(k) - W(k-1)|| and L_c the Lipschitz constant::

    P1  h(k-1) - h(k) >= (min(lam, mu) - L_c) / 2 * ||W(k) - W(k-1)||^2
    P3  dist(0, dh(k)) <= (2 L_c + mu + lam) ||W(k) - W(k-1)||

and the path length sum_k ||W(k) - W(k-1)|| is finite.  The rate is linear, or sublinear
with an exponent that implies the Kurdyka-Lojasiewicz exponent theta.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.linalg import Array

__all__ = ["Convergence", "Rate", "analyse", "fit_rate"]


@dataclass(frozen=True)
class Rate:
    """How fast step lengths shrink in the second half of a run.

    Attributes
    ----------
    kind : {"linear", "sublinear"}
        Which of the two laws fits the tail better.
    rho : float
        Factor per iteration of the linear fit.
    exponent : float
        p of the sublinear fit, distance to the limit ~ k^-p.
    theta : float
        The exponent theta = (1 + p) / (1 + 2 p) that p implies; NaN if p <= 0.
    """

    kind: Literal["linear", "sublinear"]
    rho: float
    exponent: float
    theta: float


@dataclass(frozen=True)
class Convergence:
    """One run compared with the paper's theory; arrays have one entry per iteration.

    Attributes
    ----------
    lipschitz, lam, mu : float
        L_c and the proximal constants; `mu` is NaN if it was updated in every step.
    applies : bool
        Whether lam, mu > L_c, as the theory requires.
    required_decrease : float
        (min(lam, mu) - L_c) / 2, P1's constant.
    sufficient_decrease : array of bool
        Whether P1 held, up to rounding of the loss; all False unless the theory `applies`,
        because P1's constant would allow the loss to rise.  The first entry counts only if V(0)
        had unit rows.  Fit in float64: in float32 rounding is larger than a step's decrease.
    subgradient_ratio : array
        dist(0, dh) divided by its bound; at most 1 if lam, mu > L_c.
    path_length : array
        Sum of the step lengths so far.
    rate : Rate
    """

    lipschitz: float
    lam: float
    mu: float
    applies: bool
    required_decrease: float
    sufficient_decrease: Array = field(repr=False)
    subgradient_ratio: Array = field(repr=False)
    path_length: Array = field(repr=False)
    rate: Rate


def analyse(history: Mapping[str, Array], constants: Mapping[str, float]) -> Convergence:
    """Check a fit with ``solver="linearized"`` against the theory.

    Parameters
    ----------
    history, constants : the estimator's ``history_`` and ``constants_``

    Returns
    -------
    convergence : Convergence

    Raises
    ------
    ParameterError
        If the history is not one of Algorithm 1.

    Examples
    --------
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.convergence import analyse
    >>> from sphericalpca.datasets import make_toy
    >>> from sphericalpca.solvers import Linearized
    >>> X, _ = make_toy(random_state=0)
    >>> model = SphericalPCA(2, solver=Linearized(lam="theory", mu="theory")).fit(X)
    >>> theory = analyse(model.history_, model.constants_)
    >>> theory.applies, bool(theory.sufficient_decrease.all())
    (True, True)
    """
    if "delta_V" not in history:
        remedy = ("fit with ", Parameter("solver", "linearized"))
        rule = "the theory is about Algorithm 1"
        raise ParameterError("The history has no 'delta_V'", rule, remedy)
    lipschitz, lam, mu = (constants[name] for name in ("lipschitz", "lam", "mu"))
    steps = np.hypot(history["delta_U"], history["delta_V"])
    required = (np.fmin(lam, mu) - lipschitz) / 2
    applies = lam > lipschitz and mu > lipschitz
    with np.errstate(invalid="ignore", divide="ignore"):
        holds = history["decrease_ratio"] + constants["rounding"] / steps**2 >= required
        ratio = history["subgradient"] / ((2 * lipschitz + mu + lam) * steps)
    return Convergence(
        *(lipschitz, lam, mu, applies),
        required_decrease=float(required),
        sufficient_decrease=(holds | (steps == 0)) & applies,
        subgradient_ratio=ratio,
        path_length=np.cumsum(steps),
        rate=fit_rate(steps),
    )


def fit_rate(steps: Array) -> Rate:
    """Fit rho^k and k^-(p+1) to the last half of the step lengths, on a log scale.

    Parameters
    ----------
    steps : array-like of shape (n_iter,)
        Step lengths; infinity and NaN are ignored.

    Returns
    -------
    rate : Rate
        Its numbers are NaN if fewer than three of these steps are positive.

    Raises
    ------
    ParameterError
        If `steps` is not one-dimensional.

    Examples
    --------
    >>> import numpy as np
    >>> from sphericalpca.convergence import fit_rate
    >>> rate = fit_rate(0.5 ** np.arange(1, 30))
    >>> rate.kind, round(rate.rho, 3)
    ('linear', 0.5)
    """
    steps = np.asarray(steps, dtype=np.float64)
    if steps.ndim != 1:
        rule = "it must be (n_iter,), one length per iteration"
        raise ParameterError(f"steps has shape {steps.shape}", rule)
    k = np.arange(1, len(steps) + 1)
    tail = (k > len(steps) // 2) & (steps > 0) & np.isfinite(steps)
    if tail.sum() < 3:
        return Rate("linear", math.nan, math.nan, math.nan)
    target = np.log(steps[tail])
    (slope, _), linear, *_ = np.polyfit(k[tail], target, 1, full=True)
    (power, _), sublinear, *_ = np.polyfit(np.log(k[tail]), target, 1, full=True)
    exponent = float(-power - 1.0)
    theta = (1 + exponent) / (1 + 2 * exponent) if exponent > 0 else math.nan
    kind: Literal["linear", "sublinear"] = "linear" if linear[0] <= sublinear[0] else "sublinear"
    return Rate(kind, math.exp(slope), exponent, theta)
