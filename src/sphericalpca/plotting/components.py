"""Plots of recall by number of components, and of the weight of each component."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sphericalpca.estimators.fitted import model_on_host
from sphericalpca.exceptions import ParameterError
from sphericalpca.linalg import Array
from sphericalpca.plotting.style import INK, PALETTE, new_axes, ticks_at, tidy

__all__ = ["ComponentWeightsDisplay", "DimensionsDisplay"]

RECALL, SVD, COSINE = PALETTE[:3]
BARS, LINE = PALETTE[:2]

# Beyond this many components markers on the cumulative line would run together.
MOST_MARKERS = 30
MOST_TICKS = 16

# From this height on the bars share the line's scale, so that the line starts on the first bar;
# lower bars would be invisible there.
COMMON_SCALE = 0.3
HEADROOM = 1.05


class DimensionsDisplay:
    """Recall of neighbours, with its interval, and mean cosine against the number of components.

    Parameters
    ----------
    n_components : array-like of shape (n_points,)
        Increasing.
    recall, low, high : array-like of shape (n_points,)
        Recall and the ends of its interval.
    mean_cosine : array-like of shape (n_points,)
    svd_recall : array-like of shape (n_points,), optional
        Recall of the SVD with unit rows; NaN where it is not known.
    chosen : int, optional
        The number of components to mark.
    target : float, optional
        The recall to mark.
    k : int, optional
        Number of neighbours, for the label.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    recall_line_, svd_line_, cosine_line_ : matplotlib Line2D
        `svd_line_` is None if there is nothing to draw.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import choose_components
    >>> from sphericalpca.plotting import DimensionsDisplay
    >>> choice = choose_components(load_digits().data, recall=0.8, random_state=0)
    >>> DimensionsDisplay.from_choice(choice).ax_.get_xlabel()
    'components'
    """

    def __init__(
        self,
        n_components: Any,
        recall: Any,
        low: Any,
        high: Any,
        mean_cosine: Any,
        *,
        svd_recall: Any = None,
        chosen: int | None = None,
        target: float | None = None,
        k: int | None = None,
    ) -> None:
        self.n_components: Array = np.asarray(n_components)
        known = np.full(len(self.n_components), np.nan) if svd_recall is None else svd_recall
        self.recall, self.low, self.high, self.mean_cosine, self.svd_recall = (
            np.asarray(values, dtype=np.float64)
            for values in (recall, low, high, mean_cosine, known)
        )
        self.chosen, self.target, self.k = chosen, target, k

    @classmethod
    def from_choice(cls, choice: Any, *, ax: Any = None) -> Self:
        """Draw the curve of a `DimensionChoice`.

        Parameters
        ----------
        choice, ax : DimensionChoice, matplotlib Axes

        Returns
        -------
        display : DimensionsDisplay
        """
        names = ("n_components", "recall", "low", "high", "mean_cosine", "svd_recall")
        columns = {name: choice.column(name) for name in names}
        marks = {"chosen": choice.n_components, "target": choice.recall, "k": choice.k}
        return cls(**columns, **marks).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on `ax` or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        self : DimensionsDisplay
        """
        self.ax_ = ax = new_axes((6.0, 3.8)) if ax is None else ax
        self.figure_, r = ax.figure, self.n_components
        ax.fill_between(r, self.low, self.high, color=RECALL, alpha=0.2, linewidth=0)
        label = "recall" if self.k is None else f"recall@{self.k}"
        solid = {"linewidth": 1.6, "marker": "o", "markersize": 3.5}
        (self.recall_line_,) = ax.plot(r, self.recall, color=RECALL, label=label, **solid)
        self.svd_line_ = None
        known = np.isfinite(self.svd_recall)
        if known.any():
            # Larger markers stay visible under the other curve, which is often the same.  No line:
            # it would cut corners where the SVD was not measured, and seem ahead.
            style = {"linestyle": "none", "marker": "s", "markersize": 6, "zorder": 1.5}
            style |= {"color": SVD, "label": "SVD + unit rows"}
            (self.svd_line_,) = ax.plot(r[known], self.svd_recall[known], **style)
        style = {"color": COSINE, "linestyle": "-.", "linewidth": 1.2, "label": "mean cosine"}
        (self.cosine_line_,) = ax.plot(r, self.mean_cosine, **style)
        self._mark_and_label()
        return self

    def _mark_and_label(self) -> None:
        ax, ends = self.ax_, np.log2(self.n_components[[0, -1]])
        thin = {"color": INK, "linewidth": 0.8, "linestyle": ":", "zorder": 0}
        if self.target is not None:
            ax.axhline(self.target, **thin)
        if self.chosen is not None:
            ax.axvline(self.chosen, **thin)
            above = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
            style = {"ha": "center", "color": INK, "fontsize": 9}
            ax.annotate(f"r = {self.chosen}", (self.chosen, 1), xytext=(0, 3), **above, **style)
        ticks_at(ax, (2.0 ** np.arange(np.floor(ends[0]), np.ceil(ends[1]) + 1)).tolist())
        tidy(ax, grid="y")
        ax.set(xlabel="components", ylabel="share kept", ylim=(0, 1.02))
        ax.legend(frameon=False, fontsize=9, loc="best")


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
    ax_, cumulative_ax_ : matplotlib Axes
        With the bars, and with the running sum.
    figure_, bars_, line_ : matplotlib Figure, BarContainer and Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.plotting import ComponentWeightsDisplay
    >>> model = SphericalPCA(n_components=12).fit(load_digits().data)
    >>> len(ComponentWeightsDisplay.from_estimator(model).bars_)
    12
    """

    def __init__(self, component_weights: Any) -> None:
        self.component_weights: Array = np.asarray(component_weights, dtype=np.float64)
        known = self.component_weights
        if known.ndim != 1 or known.size == 0 or not np.isfinite(known).all():
            rule = "it must be a non-empty list of finite numbers, one for each component"
            raise ParameterError(f"component_weights has shape {known.shape}", rule)
        self.cumulative: Array = np.cumsum(self.component_weights)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the weights of a fitted estimator.

        Parameters
        ----------
        estimator, ax : fitted SphericalPCA, matplotlib Axes

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
        ax, r = self.ax_, len(self.component_weights)
        order = np.arange(1, r + 1)
        self.bars_ = ax.bar(order, self.component_weights, width=0.7, color=BARS)
        tallest = float(self.component_weights.max())
        margin = max(0.6, (6 - r) / 3)  # otherwise two bars would fill the width
        ax.set(xlim=(1 - margin, r + margin))
        ax.set(ylim=(0, HEADROOM * (1.0 if tallest >= COMMON_SCALE else tallest)))
        if r <= MOST_TICKS:
            ax.set_xticks(order)
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        tidy(ax, grid="y")
        ax.set(xlabel="component", ylabel="share of each component")
        ax.yaxis.label.set_color(BARS)
        ax = self.cumulative_ax_
        style = {"color": LINE, "linewidth": 1.2, "clip_on": False, "markersize": 3.5}
        marker = "o" if r <= MOST_MARKERS else None
        (self.line_,) = ax.plot(order, self.cumulative, marker=marker, **style)
        tidy(ax)
        ax.spines["left"].set_visible(False)
        ax.spines["right"].set_visible(True)
        ax.set(ylim=(0, HEADROOM), ylabel="cumulative share")
        ax.yaxis.label.set_color(LINE)
        return self
