"""The numbers that the paper prints: 96 in its two tables, for comparison with ours.

Liu, Li, Wang and Tang, *Spherical Principal Component Analysis* (SDM 2019).
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "CLASS_SIZES",
    "PAPER_METHODS",
    "TABLE_1",
    "TABLE_2",
    "Pair",
    "paper_pair",
]


class Pair(NamedTuple):
    """One cell of the paper: clustering accuracy and normalised mutual information."""

    accuracy: float
    nmi: float


# In the order of the paper's columns.
PAPER_METHODS = ("kmeans", "mua", "pca", "r1-pca", "k-svd", "spherical-pca")


def _cells(*numbers: float) -> dict[str, Pair]:
    """A printed line: accuracy and NMI of each method in turn."""
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return {method: Pair(*pair) for method, pair in zip(PAPER_METHODS, pairs, strict=True)}


# fmt: off
# 20 newsgroups, by number of groups.
TABLE_1: dict[str, dict[str, Pair]] = {
    "5": _cells(.651, .621, .674, .614, .703, .628, .745, .647, .789, .673, .838, .695),
    "10": _cells(.487, .316, .478, .320, .502, .383, .535, .398, .527, .394, .588, .401),
    "15": _cells(.398, .307, .387, .301, .412, .319, .423, .320, .461, .377, .486, .385),
    "20": _cells(.315, .242, .314, .221, .362, .248, .394, .260, .412, .280, .431, .294),
}

# UCI, by data set.
TABLE_2: dict[str, dict[str, Pair]] = {
    "glass": _cells(.687, .566, .692, .574, .732, .608, .769, .626, .801, .648, .788, .635),
    "diabetes": _cells(.775, .632, .788, .654, .761, .613, .808, .631, .827, .672, .832, .680),
    "mfeat": _cells(.365, .223, .358, .211, .371, .225, .431, .342, .412, .328, .425, .330),
    "isolet": _cells(.267, .198, .253, .181, .262, .182, .324, .201, .357, .246, .373, .250),
}
# fmt: on

# Sets of two classes: there a pair of accuracy and NMI can be checked for being possible.
CLASS_SIZES: dict[str, tuple[int, int]] = {"diabetes": (500, 268)}

# The paper names its five groups, so its line "5" is compared only with these.
_LINE_OF_GROUPS = {"5 named": "5", "10": "10", "15": "15", "20": "20"}


def paper_pair(experiment: str, dataset: str, groups: str, method: str) -> Pair | None:
    """What the paper prints for a cell of our tables, or None.

    Parameters
    ----------
    experiment, dataset, groups, method : str
        As in the columns of ``rows.csv``.  The views of mfeat ("mfeat-fac" and so on) get
        the figures of "mfeat", because the paper does not say which view it means.
    """
    if experiment == "newsgroups" and dataset == "20newsgroups":
        return TABLE_1.get(_LINE_OF_GROUPS.get(groups, ""), {}).get(method)
    if experiment == "uci":
        return TABLE_2.get(dataset.partition("-")[0], {}).get(method)
    return None
