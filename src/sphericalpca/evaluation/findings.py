"""Summarize the numbers of an evaluation in sentences, by fixed rules."""

from __future__ import annotations

import math
from collections.abc import Iterable

from sphericalpca.evaluation.methods import LABELS, MODEL, SVD_UNIT
from sphericalpca.evaluation.result import Evaluation, Standing, stages
from sphericalpca.pages.tables import share, shift
from sphericalpca.registry.formats import joined

__all__ = ["findings"]

# Recall at which a second stage is good enough in practice.
ENOUGH = 0.99

# Shown in place of a difference that rounds to zero.
ZERO, NO_DIFFERENCE = shift(0.0), "no measurable difference"


def findings(found: Evaluation) -> list[str]:
    """The sentences, most important first."""
    return [
        _kept(found),
        _honest_rival(found),
        *_other_rivals(found),
        _second_stage(found),
        _refit(found),
        _drift(found),
    ]


def _kept(found: Evaluation) -> str:
    row = found.row(MODEL, k=found.k)
    r, m = found.n_components, found.n_features
    return (
        f"{r} of {m} dimensions, {4 * r:,} bytes per vector in place of {4 * m:,} in float32, keep "
        f"{share(row.recall)} of the {_neighbours(found.k)} by cosine (95 % interval "
        f"{share(row.low)} to {share(row.high)}, {found.n_queries:,} queries)."
    )


def _honest_rival(found: Evaluation) -> str:
    """SVD + unit rows: the same output space, without a solver."""
    parts = {k: found.standings(k)[SVD_UNIT] for k in found.at}
    words = {"ahead": "ahead of it", "level": "level", "behind": "behind it"}
    where = {o: [k for k, part in parts.items() if part.outcome == o] for o in words}
    if len(where["level"]) == len(parts):
        return (
            f"SVD + unit rows ties with Spherical PCA at {_places(parts)} "
            f"({_differences(parts.values())}): on these rows the plain SVD, followed by unit "
            "rows, keeps as many neighbours."
        )
    texts = [
        f"{words[outcome]} at {_places(ks)} ({_differences(parts[k] for k in ks)})"
        for outcome, ks in where.items()
        if ks
    ]
    return f"SVD + unit rows is the closest alternative: Spherical PCA is {joined(texts)}."


def _other_rivals(found: Evaluation) -> list[str]:
    standings = found.standings(found.k)
    others = [name for name in standings if name not in (MODEL, SVD_UNIT)]
    words = {
        "ahead": "Spherical PCA finds more than",
        "level": "there is no significant difference from",
        "behind": "Spherical PCA finds less than",
    }
    texts = []
    for outcome, word in words.items():
        names = [name for name in others if standings[name].outcome == outcome]
        gaps = {name: shift(standings[name].difference.mean) for name in names}
        rivals = [LABELS[name] + (f" ({gap})" if gap != ZERO else "") for name, gap in gaps.items()]
        if rivals:
            texts.append(f"At recall@{found.k}, {word} {'; '.join(rivals)}.")
    return texts


def _second_stage(found: Evaluation) -> str:
    rows = [row for row in stages(found) if row.method == MODEL]
    enough = next((row for row in rows if row.recall >= ENOUGH), rows[-1])
    candidates = f"the first {enough.candidates:,} with full vectors"
    if enough.candidates == found.k:
        return f"A second stage is not needed: {share(enough.recall)} are found without it."
    return (
        f"In two stages, a search among reduced vectors and a re-ranking of {candidates}, "
        f"{share(enough.recall)} of the {_neighbours(found.k)} are found"
        f"{'' if enough.recall >= ENOUGH else ', with the largest number tried'}."
    )


def _refit(found: Evaluation) -> str:
    standing = found.standings(found.k)[MODEL]
    words = {"level": "is level with", "ahead": "finds more than", "behind": "finds less than"}
    gap = standing.difference
    mean, low, high = map(shift, (gap.mean, gap.low, gap.high))
    zero = {mean, low, high} == {ZERO}
    size = NO_DIFFERENCE if zero else f"{mean}, 95 % interval {low} to {high}"
    return (
        "Spherical PCA refitted to these rows without the queries "
        f"{words[standing.outcome]} this model ({size} at recall@{found.k})"
        f"{': refit the model.' if standing.outcome == 'ahead' else '.'}"
    )


def _drift(found: Evaluation) -> str:
    drift = found.drift
    now = f"{drift.now:.4f} on these {drift.n_samples:,} rows ({drift.low:.4f} to {drift.high:.4f})"
    if math.isnan(drift.then):
        return f"The mean cosine is {now}; it is not known at the fit, as the model is truncated."
    then = f"The mean cosine was {drift.then:.4f} at the fit and is {now}"
    expected = f"only a decrease of {drift.optimism:.4f} is expected on new rows"
    shown = (
        f"no drift beyond the decrease of about {drift.optimism:.4f} that is expected on new rows"
    )
    words = {
        "none": "no drift" if math.isnan(drift.optimism) else shown,
        "lower": f"{expected}, so these rows have drifted away from the model: fit it again",
        "higher": "these rows lie nearer to the model's subspace than its training rows",
        "unknown": "too few rows to tell drift from the decrease expected on new rows",
    }
    return f"{then}: {words[drift.verdict]}."


def _neighbours(k: int) -> str:
    return "nearest neighbour" if k == 1 else f"{k} nearest neighbours"


def _places(ks: Iterable[int]) -> str:
    return f"recall{joined(f'@{k}' for k in ks)}"


def _differences(standings: Iterable[Standing]) -> str:
    means = [standing.difference.mean for standing in standings]
    ends = list(dict.fromkeys(shift(end) for end in (min(means), max(means))))
    if ends == [ZERO]:
        return NO_DIFFERENCE
    return f"difference{'s' if len(ends) > 1 else ''} {' to '.join(ends)}"
