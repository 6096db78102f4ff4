"""Pairs of accuracy and NMI that the paper prints, and whether they can be true.

With two classes of known sizes and two clusters, the accuracy of a clustering bounds its
NMI.  A mean over several clusterings can lie above that bound, but not above its concave
envelope.  Both ceilings are taken at the normalisation that is most generous to the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from paper.ceiling import nmi_ceiling
from paper.printed import CLASS_SIZES, TABLE_2, Pair
from sphericalpca.metrics.clustering import Normalisation

__all__ = ["Doubt", "Verdict", "doubts"]

Verdict = Literal["impossible", "only a mean of very unequal runs", "possible"]

# The paper prints three decimals.
ROUNDING = 0.0005


@dataclass(frozen=True)
class Doubt:
    """One two-cluster cell of the paper under its two ceilings.

    Attributes
    ----------
    dataset, method : str
    pair : Pair
        As printed.
    one : float
        The highest NMI of a single clustering of that accuracy; NaN where none has it.
    mean : float
        The highest mean NMI of any number of clusterings of that mean accuracy.
    """

    dataset: str
    method: str
    pair: Pair
    one: float
    mean: float

    @property
    def verdict(self) -> Verdict:
        """Whether the pair is possible under the ceilings, allowing for rounding."""
        if self.pair.nmi - ROUNDING > self.mean:
            return "impossible"
        if self.pair.nmi - ROUNDING <= self.one:
            return "possible"
        return "only a mean of very unequal runs"


@cache
def doubts() -> dict[tuple[str, str], Doubt]:
    """Every two-cluster cell of the paper, by data set and method."""
    return {
        (dataset, method): Doubt(
            dataset, method, pair, _ceiling(pair, sizes), _ceiling(pair, sizes, mean=True)
        )
        for dataset, sizes in CLASS_SIZES.items()
        for method, pair in TABLE_2[dataset].items()
    }


def _ceiling(pair: Pair, sizes: tuple[int, int], *, mean: bool = False) -> float:
    return max(
        nmi_ceiling(pair.accuracy, sizes, normalisation=kind, mean=mean, rounding=ROUNDING)
        for kind in get_args(Normalisation)
    )
