"""The report as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib import resources
from typing import Any

import pandas as pd

from sphericalpca.experiments.report.compare import NEGLIGIBLE
from sphericalpca.experiments.report.content import Content
from sphericalpca.experiments.report.findings.words import listed
from sphericalpca.experiments.report.read import STAND_INS
from sphericalpca.experiments.report.tables.grid import share

__all__ = ["render"]

# The sections that need rows, in the order of the page, and what to call them with the
# paper's data.
SECTIONS = {
    "toy": "The toy",
    "convergence": "Convergence",
    "newsgroups": "Table 1: newsgroups",
    "uci": "Table 2: UCI",
    "lsa": "Table 3: LSA as people run it",
    "rank": "Accuracy against the dimension",
    "seconds": "Run time",
}

# The same with other data, whose names follow.
STAND_IN_SECTIONS = {
    "newsgroups": "Table 1's protocol, on ",
    "uci": "Table 2's protocol, on ",
    "lsa": "Table 3: LSA as people run it, on ",
    "rank": "Accuracy against the dimension, on ",
}

SCRIPTS = ("theme.js", "toy3d.js")


def render(content: Content) -> str:
    """The page as text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415
    from markupsafe import Markup  # noqa: PLC0415

    environment = Environment(
        loader=PackageLoader("sphericalpca.experiments.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_typeset,
        keep_trailing_newline=True,
    )
    scripts = {name: _template(name) for name in SCRIPTS}
    page = environment.get_template("report.html.j2").render(
        **_shown(content),
        panels={
            name: [Markup(svg) for svg in picture.inline()]
            for name, picture in content.pictures.items()
        },
        style=Markup(_template("style.css")),
        scripts={name: Markup(text) for name, text in scripts.items()},
        policy=Markup(_policy(scripts.values())),
        toy_data=Markup(_toy_data(content.results.toy)),
    )
    return str(page)


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
    """What the template asks for by name."""
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
        "pictures": content.pictures,
        "tables": content.tables,
        "verdict": content.verdict,
        "headlines": content.headlines,
        "findings": content.findings,
        "claims": content.claims,
        "sections": {name: title for name, title in titles.items() if there[name]},
        "missing": [title for name, title in titles.items() if not there[name]],
        "stand_ins": content.results.stand_ins,
        "standing_in": standing_in,
        "only_stand_ins": bool(content.results.stand_ins) and not paper_data,
        "versions": content.results.versions,
        "n_rows": len(rows),
        "negligible": share(NEGLIGIBLE),
    }


def _is_there(content: Content, section: str) -> bool:
    names = [*content.pictures, *content.tables]
    return any(name == section or name.startswith(f"{section}-") for name in names)


def _template(name: str) -> str:
    folder = resources.files("sphericalpca.experiments.report") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def _policy(scripts: Any) -> str:
    """Nothing may be loaded; of scripts, only the two that are part of the page may run."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _toy_data(points: pd.DataFrame) -> str:
    """The toy's points for the script, as JSON that cannot end the script element."""
    if points.empty:
        return "null"
    first = points.iloc[0]
    found = points[["group", "kmeans", "spherical"]].astype(int)
    data = {
        "points": points[["x", "y", "z"]].round(3).to_numpy().tolist(),
        "components": points[["v1", "v2"]].round(4).to_numpy().tolist(),
        "labels": {name: found[name].tolist() for name in found},
        "plane": [[round(float(first[f"u{i}{j}"]), 5) for j in (1, 2)] for i in (1, 2, 3)],
    }
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
