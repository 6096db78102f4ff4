"""The result of an evaluation, as an object and as flat rows."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from sphericalpca.estimators.fitted import plain
from sphericalpca.evaluation.drift import NEGLIGIBLE, Drift
from sphericalpca.evaluation.methods import LABELS, REFIT
from sphericalpca.linalg import Array
from sphericalpca.metrics import PairedDifference, holm, mean_share, paired_difference

__all__ = ["Evaluation", "EvaluationRow", "Outcome", "Standing", "stages"]

# How one method compares with another.
Outcome = Literal["ahead", "behind", "level"]

LEVEL = 0.05


@dataclass(frozen=True)
class EvaluationRow:
    """The recall of one method.

    Attributes
    ----------
    method, label : str
    n_components : int
    k : int
        Number of true neighbours per query.
    candidates : int
        Number of neighbours found.  If larger than k, the search is followed by ranking these
        with full vectors, which ranks every true neighbour among them correctly.
    recall, low, high : float
        Mean fraction found, and its 95 % interval.
    difference, difference_low, difference_high : float
        Spherical PCA, fitted to the same rows as the other methods, minus the method, paired
        over queries; NaN for itself.
    """

    method: str
    label: str
    n_components: int
    k: int
    candidates: int
    recall: float
    low: float
    high: float
    difference: float = math.nan
    difference_low: float = math.nan
    difference_high: float = math.nan


@dataclass(frozen=True)
class Standing:
    """How a method compares with another: the paired difference, and its interpretation."""

    difference: PairedDifference
    outcome: Outcome


@dataclass(frozen=True)
class Evaluation:
    """Recall of a model and its alternatives for held-out queries.

    Attributes
    ----------
    n_samples, n_features, n_components, n_queries : int
    at : tuple of int
        Numbers of neighbours requested.
    k : int
        The number in `at` that curves are drawn for.
    recalls : dict from (method, n_components, k, candidates) to array of shape (n_queries,)
    drift : Drift
        Mean cosine of all rows against that of the training rows.
    svd_ratio : float
        `svd_ratio_` of the model: above 0.9999 a plain SVD would be enough.
    """

    n_samples: int
    n_features: int
    n_components: int
    n_queries: int
    at: tuple[int, ...]
    k: int
    recalls: dict[tuple[str, int, int, int], Array] = field(repr=False)
    drift: Drift
    svd_ratio: float

    @cached_property
    def rows(self) -> list[EvaluationRow]:
        """All numbers, one row each."""
        found = []
        for (method, r, k, candidates), values in self.recalls.items():
            share = mean_share(values, k)
            numbers = [share.mean, share.low, share.high]
            if method != REFIT:
                gap = paired_difference(self.recalls[REFIT, r, k, candidates], values)
                numbers += [gap.mean, gap.low, gap.high]
            found.append(EvaluationRow(method, LABELS[method], r, k, candidates, *numbers))
        return found

    def row(
        self, method: str, *, k: int, candidates: int | None = None, r: int | None = None
    ) -> EvaluationRow:
        """Return one of the rows.

        Parameters
        ----------
        method : str
            Name of the method, such as "model", "refit" or "svd-unit".
        k : int
            One of `at`.
        candidates : int, optional
            Number of neighbours found that are ranked with full vectors; `k` by default.
        r : int, optional
            The number of components; the model's by default.

        Returns
        -------
        row : EvaluationRow
        """
        wanted = (method, self.n_components if r is None else r, k, candidates or k)
        return self.rows[list(self.recalls).index(wanted)]

    def standings(self, k: int) -> dict[str, Standing]:
        """Compare Spherical PCA, fitted to the same rows, with each method at k neighbours.

        "Ahead" and "behind" need a 95 % interval without 0, a p-value of at most .05
        (Wilcoxon, Holm-corrected over the methods) and half a point of difference.

        Parameters
        ----------
        k : int
            One of `at`.

        Returns
        -------
        standings : dict from method to Standing
        """
        every = {name: self.recalls[name, self.n_components, k, k] for name in LABELS}
        mine = every.pop(REFIT)
        gaps = {name: paired_difference(mine, recalls) for name, recalls in every.items()}
        adjusted = holm([gap.p_value for gap in gaps.values()])
        return {
            name: Standing(gap, _outcome(gap, p))
            for (name, gap), p in zip(gaps.items(), adjusted, strict=True)
        }

    def __str__(self) -> str:
        from sphericalpca.evaluation.findings import findings  # noqa: PLC0415 - imports this module

        return "\n".join(f"- {sentence}" for sentence in findings(self))

    def to_csv(self) -> str:
        """Return the rows as CSV.

        Returns
        -------
        text : str
            CSV with a header line, and a line for each of `rows`.
        """
        text = io.StringIO()
        names = [field.name for field in dataclasses.fields(EvaluationRow)]
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(dataclasses.asdict(row) for row in self.rows)
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as a dict for JSON; NaN becomes None.

        Returns
        -------
        numbers : dict
            With "drift" as a dict, and "rows" as a list of them.
        """
        facts = ("n_samples", "n_features", "n_components", "n_queries", "svd_ratio")
        drift = vars(self.drift) | {"verdict": self.drift.verdict}
        return {
            **_plain({name: getattr(self, name) for name in facts}),
            "drift": _plain({name: value for name, value in drift.items() if name != "cosines"}),
            "rows": [_plain(dataclasses.asdict(row)) for row in self.rows],
        }


def stages(found: Evaluation) -> list[EvaluationRow]:
    """Select the rows of all components at `k` neighbours, by method and candidates."""
    r, k = found.n_components, found.k
    return [row for row in found.rows if (row.n_components, row.k) == (r, k)]


def _outcome(gap: PairedDifference, p: float) -> Outcome:
    shown = not gap.low <= 0 <= gap.high and p <= LEVEL
    if not shown or abs(gap.mean) < NEGLIGIBLE:
        return "level"
    return "ahead" if gap.mean > 0 else "behind"


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    """Convert values to Python numbers; those that are not finite become None."""
    return {name: plain(value) for name, value in record.items()}
