"""The report as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

import json
import re
from typing import Any

import pandas as pd

from paper.report.compare import NEGLIGIBLE
from paper.report.content import Content
from paper.report.enough import MARGIN
from paper.report.findings.words import listed
from paper.report.read import STAND_INS
from sphericalpca.pages import document
from sphericalpca.pages.tables import share

__all__ = ["render"]

# The sections that need rows, in the order of the page, and their titles with the paper's
# data.
SECTIONS = {
    "toy": "The toy",
    "convergence": "Convergence",
    "newsgroups": "Table 1: newsgroups",
    "uci": "Table 2: UCI",
    "lsa": "Table 3: LSA in common practice",
    "embeddings": "Table 4: sentence embeddings",
    "rank": "Accuracy against the dimension",
    "starts": "Other starts",
    "constants": "Other constants of Algorithm 1",
    "seconds": "Run time",
}

# The same with other data, whose names follow.
STAND_IN_SECTIONS = {
    "newsgroups": "Table 1's protocol, on ",
    "uci": "Table 2's protocol, on ",
    "lsa": "Table 3: LSA in common practice, on ",
    "rank": "Accuracy against the dimension, on ",
    "starts": "Other starts, on ",
}

SCRIPT = "toy3d.js"


def render(content: Content) -> str:
    """The page as text."""
    return document.render(
        "paper.report",
        "report.html.j2",
        pictures=content.pictures,
        tables=content.tables,
        scripts={SCRIPT: document.template_text("paper.report", SCRIPT)},
        finalize=_typeset,
        toy_data=_toy_data(content.results.toy),
        **_shown(content),
    )


def _typeset(value: Any) -> Any:
    """Apostrophes and subscripts as printers set them, no break inside "5 %" or "r = 5".

    Markup is left alone.
    """
    from markupsafe import Markup, escape  # noqa: PLC0415

    if type(value) is not str:
        return value
    text = value.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
    text = re.sub(r"(?<=\d) (?=%)|(?<=\br) (?==)|(?<==) (?=\d)", "\N{NO-BREAK SPACE}", text)
    return Markup(re.sub(r"\b([Lλ])_(c|max)\b", r"\1<sub>\2</sub>", str(escape(text))))


def _shown(content: Content) -> dict[str, Any]:
    """The variables of the template."""
    standing_in = {name: content.results.stand_ins_of(name) for name in STAND_IN_SECTIONS}
    titles = SECTIONS | {
        name: f"{STAND_IN_SECTIONS[name]}{listed(data)}"
        for name, data in standing_in.items()
        if data
    }
    there = {name: _is_there(content, name) for name in SECTIONS}
    rows = content.results.rows
    paper_data = [name for name in rows["dataset"].unique() if name not in STAND_INS | {"toy"}]
    return {
        "verdict": content.verdict,
        "headlines": content.headlines,
        "findings": content.findings,
        "claims": content.claims,
        "sections": {name: title for name, title in titles.items() if there[name]},
        "missing": [title for name, title in titles.items() if not there[name]],
        "stand_ins": content.results.stand_ins,
        "standing_in": standing_in,
        "only_stand_ins": bool(content.results.stand_ins) and not paper_data,
        "made_with": content.results.made_with,
        "n_rows": len(rows),
        "negligible": share(NEGLIGIBLE),
        "margin": share(MARGIN),
    }


def _is_there(content: Content, section: str) -> bool:
    names = [*content.pictures, *content.tables]
    return any(name == section or name.startswith(f"{section}-") for name in names)


def _toy_data(points: pd.DataFrame) -> Any:
    """The toy's points for the script, as JSON that cannot end the script element."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    if points.empty:
        return Markup("null")
    first = points.iloc[0]
    found = points[["group", "kmeans", "spherical"]].astype(int)
    data = {
        "points": points[["x", "y", "z"]].round(3).to_numpy().tolist(),
        "components": points[["v1", "v2"]].round(4).to_numpy().tolist(),
        "labels": {name: found[name].tolist() for name in found},
        "plane": [[round(float(first[f"u{i}{j}"]), 5) for j in (1, 2)] for i in (1, 2, 3)],
    }
    return Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))
