"""Plots of groups of texts: their sizes and distinctive words."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from sphericalpca.plotting.style import PALETTE, new_axes, tidy

__all__ = ["GroupsDisplay"]


class GroupsDisplay:
    """A bar for the size of each group, the largest on top, beside its distinctive words.

    Parameters
    ----------
    sizes, words : array-like of shape (n_groups,), list of list of str

    Attributes
    ----------
    ax_, figure_, bars_ : matplotlib Axes, Figure and BarContainer

    Examples
    --------
    >>> from sphericalpca import TextClusters
    >>> from sphericalpca.datasets import load_docstrings
    >>> from sphericalpca.plotting import GroupsDisplay
    >>> clusters = TextClusters(8).fit(load_docstrings().texts)
    >>> len(GroupsDisplay.from_estimator(clusters).bars_)
    8
    """

    def __init__(self, sizes: Any, words: list[list[str]]) -> None:
        self.sizes, self.words = np.asarray(sizes), words

    @classmethod
    def from_estimator(cls, estimator: Any, n_words: int = 5, *, ax: Any = None) -> Self:
        """Draw the groups of a fitted `TextClusters`.

        Parameters
        ----------
        estimator, n_words, ax : TextClusters, int, matplotlib Axes

        Returns
        -------
        display : GroupsDisplay
        """
        sizes = np.bincount(estimator.merged_, weights=estimator.sizes_)
        words = [[word for word, _ in estimator.words(k, n_words)] for k in range(len(sizes))]
        return cls(sizes, words).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on `ax` or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        display : GroupsDisplay
        """
        order = np.argsort(self.sizes, kind="stable")
        names = [f"{' '.join(self.words[k])}  ({k})".strip() for k in order]
        ax = new_axes((7.2, 1 + 0.28 * len(order))) if ax is None else ax
        self.ax_, self.figure_ = ax, ax.figure
        self.bars_ = ax.barh(range(len(order)), self.sizes[order], color=PALETTE[0])
        ax.set(yticks=range(len(order)), yticklabels=names, xlabel="Texts")
        tidy(ax, grid="x")
        return self
