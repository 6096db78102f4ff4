"""How much each component carries."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sphericalpca.estimators.fitted import model_on_host
from sphericalpca.linalg import Array
from sphericalpca.plotting.style import PALETTE, new_axes, tidy

__all__ = ["ComponentWeightsDisplay"]

# Beyond this many components markers on the cumulative line would run together.
MOST_MARKERS = 30
MOST_TICKS = 16

# From this height on the bars share the line's scale, so that the line starts on the
# first bar; lower bars get a scale of their own, or they could not be seen.
COMMON_SCALE = 0.3
HEADROOM = 1.05

BARS, LINE = PALETTE[:2]


class ComponentWeightsDisplay:
    """Bars of the component weights and, on the right axis, their running sum.

    Parameters
    ----------
    component_weights : array-like of shape (n_components,)
        Shares that sum to 1, such as an estimator's ``component_weights_``.

    Attributes
    ----------
    component_weights, cumulative : ndarray of shape (n_components,)
        The shares and their running sum.
    ax_ : matplotlib Axes
        With the bars.
    cumulative_ax_ : matplotlib Axes
        Its twin, with the running sum.
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
    line_ : matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.plotting import ComponentWeightsDisplay
    >>> X = load_digits().data
    >>> model = SphericalPCA(n_components=12).fit(X)
    >>> display = ComponentWeightsDisplay.from_estimator(model)
    >>> len(display.bars_)
    12
    """

    def __init__(self, component_weights: Any) -> None:
        self.component_weights: Array = np.asarray(component_weights, dtype=np.float64)
        known = self.component_weights
        if known.ndim != 1 or known.size == 0 or not np.isfinite(known).all():
            raise ValueError(
                f"component_weights of shape {known.shape} must be a list of finite numbers, one "
                "for each component, with at least one."
            )
        self.cumulative: Array = np.cumsum(self.component_weights)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the weights of a fitted estimator.

        Parameters
        ----------
        estimator : fitted SphericalPCA
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : ComponentWeightsDisplay
        """
        check_is_fitted(estimator, "component_weights_")
        return cls(model_on_host(estimator).component_weights_).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on `ax` or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        self : ComponentWeightsDisplay
        """
        self.ax_ = new_axes((5.6, 3.4)) if ax is None else ax
        self.figure_ = self.ax_.figure
        self.cumulative_ax_ = self.ax_.twinx()
        self._draw_bars()
        self._draw_cumulative()
        return self

    def _draw_bars(self) -> None:
        ax, r = self.ax_, len(self.component_weights)
        order = np.arange(1, r + 1)
        self.bars_ = ax.bar(order, self.component_weights, width=0.7, color=BARS)
        tallest = float(self.component_weights.max())
        margin = max(0.6, (6 - r) / 3)  # two bars alone would be a wall
        ax.set(xlim=(1 - margin, r + margin))
        ax.set(ylim=(0, HEADROOM * (1.0 if tallest >= COMMON_SCALE else tallest)))
        if r <= MOST_TICKS:
            ax.set_xticks(order)
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        tidy(ax, grid="y")
        ax.set(xlabel="component", ylabel="share of each component")
        ax.yaxis.label.set_color(BARS)

    def _draw_cumulative(self) -> None:
        ax, r = self.cumulative_ax_, len(self.component_weights)
        style = {"color": LINE, "linewidth": 1.2, "clip_on": False, "markersize": 3.5}
        marker = "o" if r <= MOST_MARKERS else None
        (self.line_,) = ax.plot(np.arange(1, r + 1), self.cumulative, marker=marker, **style)
        tidy(ax)
        ax.spines["left"].set_visible(False)
        ax.spines["right"].set_visible(True)
        ax.set(ylim=(0, HEADROOM), ylabel="cumulative share")
        ax.yaxis.label.set_color(LINE)
