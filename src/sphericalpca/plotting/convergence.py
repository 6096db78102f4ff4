"""Plots of the convergence of fits."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Literal, Self, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sphericalpca.exceptions import ParameterError, check_choice
from sphericalpca.linalg import Array
from sphericalpca.plotting.style import INK, LINE_STYLES, group_colors, new_axes, tidy

__all__ = ["ConvergenceDisplay"]

Quantity = Literal["gap", "residual", "delta_U", "delta_V"]
Cost = Literal["passes", "seconds"]
Scale = Literal["linear", "log"]

LABELS: dict[str, str] = {
    "gap": "loss above the best reached",
    "residual": "residual",
    "delta_U": r"$\|U_{k+1} - U_k\|$",
    "delta_V": r"$\|V_{k+1} - V_k\|$",
}

COSTS: dict[str, str] = {"passes": "passes over the data", "seconds": "seconds"}

# Loss gaps up to this many eps times the loss are rounding errors.
ROUNDING = 64
SHORT_CURVE = 10


class ConvergenceDisplay:
    """A measure of progress against passes over the data or seconds, one curve per fit.

    Parameters
    ----------
    histories : mapping from name to history
        Each history is an estimator's ``history_``.
    best : float, optional
        The loss that gaps refer to; the lowest in `histories` by default.

    Attributes
    ----------
    histories : dict
    best : float
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib Line2D
        One per fit, in the order given.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.plotting import ConvergenceDisplay
    >>> X = load_digits().data
    >>> fits = {name: SphericalPCA(5, solver=name).fit(X) for name in ("subspace", "newton")}
    >>> display = ConvergenceDisplay.from_estimators(fits, quantity="residual")
    >>> len(display.lines_)
    2
    """

    def __init__(
        self, histories: Mapping[str, Mapping[str, Array]], *, best: float | None = None
    ) -> None:
        if not histories:
            raise ParameterError("histories is empty", "a curve needs at least one fit")
        for name, history in histories.items():
            _check_history(name, history, "loss")
        self.histories = {
            name: {column: np.asarray(values) for column, values in history.items()}
            for name, history in histories.items()
        }
        lowest = min(float(np.min(one["loss"])) for one in self.histories.values())
        self.best = lowest if best is None else float(best)

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, **options: Any) -> Self:
        """Draw one fitted estimator.

        Parameters
        ----------
        estimator : fitted SphericalPCA or R1PCA
        name : str, optional
            Label of the curve; the name of the class by default.
        **options
            `ax`, `quantity`, `against` and `xscale`, as in `plot`.

        Returns
        -------
        display : ConvergenceDisplay
        """
        name = type(estimator).__name__ if name is None else name
        return cls.from_estimators({name: estimator}, **options)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, Any], **options: Any) -> Self:
        """Draw several fitted estimators on one picture.

        Gaps are measured from the lowest loss that any of them reached, including the closing V
        step of each fit, so all fits must be of the same data.

        Parameters
        ----------
        estimators : mapping from name to fitted SphericalPCA or R1PCA
        **options
            `ax`, `quantity`, `against` and `xscale`, as in `plot`.

        Returns
        -------
        display : ConvergenceDisplay

        Raises
        ------
        TypeError
            If it is not a mapping.
        """
        if not isinstance(estimators, Mapping):
            raise TypeError(
                f"estimators is a {type(estimators).__name__}, but must map names to fitted "
                "estimators: pass a dict {'name': model}."
            )
        for estimator in estimators.values():
            check_is_fitted(estimator, "history_")
        display = cls({name: estimator.history_ for name, estimator in estimators.items()})
        # fmin, because the loss of a truncated model is NaN.
        for estimator in estimators.values():
            display.best = float(np.fmin(display.best, estimator.loss_))
        return display.plot(**options)

    def plot(
        self,
        ax: Any = None,
        *,
        quantity: Quantity = "gap",
        against: Cost = "passes",
        xscale: Scale = "linear",
    ) -> Self:
        """Draw, on `ax` or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        quantity : {"gap", "residual", "delta_U", "delta_V"}, default="gap"
            The loss above the best one, the relative Riemannian gradient, or the length of
            Algorithm 1's step in U or V.
        against : {"passes", "seconds"}, default="passes"
            The x axis.  Seconds compare fits made on one machine, one at a time.
        xscale : {"linear", "log"}, default="linear"
            Scale of the x axis.

        Returns
        -------
        self : ConvergenceDisplay
        """
        check_choice("against", against, COSTS)
        check_choice("xscale", xscale, get_args(Scale))
        for name, history in self.histories.items():
            _check_history(name, history, against)
        curves = {name: self.curve(name, quantity) for name in self.histories}
        self.ax_ = new_axes((5.6, 3.6)) if ax is None else ax
        self.figure_ = self.ax_.figure
        self.lines_ = []
        looks = zip(group_colors(len(curves)), itertools.cycle(LINE_STYLES), strict=False)
        for (name, values), (color, line) in zip(curves.items(), looks, strict=True):
            spent = self.histories[name][against]
            # A short curve may be a single point, which needs a marker.
            marker = "o" if len(spent) <= SHORT_CURVE else ""
            style = {"color": color, "linestyle": line, "marker": marker, "markersize": 4}
            self.lines_ += self.ax_.plot(spent, values, label=name, linewidth=1.6, **style)
        self.ax_.set(xscale=xscale, yscale="log")
        tidy(self.ax_, grid="y")
        self.ax_.set(xlabel=COSTS[against], ylabel=LABELS[quantity])
        if len(self.histories) > 1:
            self.ax_.legend(frameon=False, fontsize=9)
        if not any(np.isfinite(values).any() for values in curves.values()):
            reason = "the best loss was reached at once:\nuse quantity='residual'"
            place = {"transform": self.ax_.transAxes, "ha": "center", "va": "center"}
            self.ax_.text(0.5, 0.5, reason, color=INK, fontsize=9, **place)
        return self

    def curve(self, name: str, quantity: Quantity = "gap") -> Array:
        """Return the values drawn for one fit; NaN where they are not positive.

        Parameters
        ----------
        name : str
            One of the names in `histories`.
        quantity : {"gap", "residual", "delta_U", "delta_V"}, default="gap"

        Returns
        -------
        values : ndarray of shape (n_iter,)

        Raises
        ------
        ParameterError
            If the history of this fit has no such quantity.
        """
        check_choice("quantity", quantity, LABELS)
        history = self.histories[name]
        if quantity == "gap":
            gap = history["loss"] - self.best
            least = ROUNDING * np.finfo(np.float64).eps * np.abs(history["loss"])
            return np.where(gap > least, gap, np.nan)
        if quantity not in history:
            why = f"has no {quantity!r}, which only solver='linearized' records"
            remedy = "leave this fit out, or choose quantity='gap' or 'residual'"
            raise ParameterError(f"The history of {name!r} {why}", remedy=remedy)
        return np.where(history[quantity] > 0, history[quantity], np.nan)


def _check_history(name: str, history: Mapping[str, Array], column: str) -> None:
    if column not in history or len(history[column]) == 0:
        remedy = "draw a SphericalPCA or an R1PCA after fit; partial_fit keeps no history"
        raise ParameterError(f"The history of {name!r} has no {column!r}", remedy=remedy)
