"""The evaluation as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

from sphericalpca.evaluation.figures import cosines_picture, curves_picture
from sphericalpca.evaluation.findings import findings
from sphericalpca.evaluation.methods import LABELS, MODEL, REFIT
from sphericalpca.evaluation.result import Evaluation, stages
from sphericalpca.pages import document
from sphericalpca.pages.tables import HIGHER, LEVEL, LOWER, NOTHING, Entry, Row, Table, share, shift

__all__ = ["render"]

SIGNS = {
    "ahead": (LOWER, "lower than Spherical PCA"),
    "behind": (HIGHER, "higher than Spherical PCA"),
    "level": (LEVEL, "level with Spherical PCA"),
}


def render(found: Evaluation, *, model: str, data: str) -> str:
    """The page as text; `model` and `data` are what to call the model and the rows."""
    row = found.row(MODEL, k=found.k)
    return document.render(
        "sphericalpca.evaluation",
        "evaluation.html.j2",
        pictures={p.name: p for p in (curves_picture(found), cosines_picture(found))},
        tables={table.name: table for table in (_recall_table(found), _stages_table(found))},
        found=found,
        model=model,
        data=data,
        recall=share(row.recall),
        interval=f"{share(row.low)} to {share(row.high)}",
        sentences=findings(found),
    )


def _recall_table(found: Evaluation) -> Table:
    standings = {k: found.standings(k) for k in found.at}
    best = {k: max(found.row(name, k=k).recall for name in LABELS) for k in found.at}

    def entry(method: str, k: int) -> Entry:
        row = found.row(method, k=k)
        sign, meaning = SIGNS[standings[k][method].outcome] if method != REFIT else ("", "")
        below = (f"{share(row.low)} to {share(row.high)}",)
        top = row.recall == best[k]
        return Entry(share(row.recall), "", below, best=top, sign=sign, meaning=meaning)

    return Table(
        name="recall",
        title=f"Neighbours kept by {found.n_components} dimensions",
        caption=(
            f"Mean recall over {found.n_queries:,} held-out queries, with 95 % intervals; ★ the "
            f"largest. {LOWER} lower and {HIGHER} higher than Spherical PCA, {LEVEL} no difference "
            "shown, or one below half a point. Gap: Spherical PCA minus the method at "
            f"recall@{found.k}, paired over queries. This model is taken as it is; if it was "
            "fitted to these rows, it has seen the queries. All others are fitted without them."
        ),
        corner="Method",
        columns=(*(f"recall@{k}" for k in found.at), f"gap at {found.k}"),
        rows=tuple(
            Row(label, "", (*(entry(name, k) for k in found.at), _gap(found, name)))
            for name, label in LABELS.items()
        ),
    )


def _stages_table(found: Evaluation) -> Table:
    counts = sorted({row.candidates for row in stages(found)})

    def entry(method: str, candidates: int) -> Entry:
        return Entry(share(found.row(method, k=found.k, candidates=candidates).recall))

    return Table(
        name="stages",
        title=f"Two stages: recall@{found.k} after ranking the first candidates with full vectors",
        caption="Columns: how many candidates of the first stage are ranked.",
        corner="Method",
        columns=tuple(f"{candidates:,}" for candidates in counts),
        rows=tuple(
            Row(label, "", tuple(entry(name, candidates) for candidates in counts))
            for name, label in LABELS.items()
        ),
    )


def _gap(found: Evaluation, method: str) -> Entry:
    """What Spherical PCA has ahead of a method."""
    if method == REFIT:
        return NOTHING
    row = found.row(method, k=found.k)
    between = f"{shift(row.difference_low)} to {shift(row.difference_high)}"
    return Entry(shift(row.difference), "", (between,))
