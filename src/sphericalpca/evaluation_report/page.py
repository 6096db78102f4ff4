"""The evaluation as one HTML page that needs nothing else: no network, no other file.

The look, the tables and the pictures are those of the report of the experiments.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

from sphericalpca.evaluation.findings import findings
from sphericalpca.evaluation.methods import MODEL
from sphericalpca.evaluation.result import Evaluation
from sphericalpca.evaluation_report.figures import cosines_picture, curves_picture
from sphericalpca.evaluation_report.tables import recall_table, stages_table
from sphericalpca.experiments.report.tables.grid import share

__all__ = ["render"]

# No scripts, nothing from elsewhere.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
REPORT = "sphericalpca.experiments.report"


def render(found: Evaluation, *, model: str, data: str) -> str:
    """The page as text.

    Parameters
    ----------
    found : Evaluation
    model, data : str
        What to call the model and the rows.
    """
    from jinja2 import (  # noqa: PLC0415 - an optional package
        ChoiceLoader,
        Environment,
        PackageLoader,
        StrictUndefined,
    )
    from markupsafe import Markup  # noqa: PLC0415

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(__package__ or ""), PackageLoader(REPORT)]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_unbroken,
        keep_trailing_newline=True,
    )
    pictures = {p.name: p for p in (curves_picture(found), cosines_picture(found))}
    style = (resources.files(REPORT) / "templates" / "style.css").read_text(encoding="utf-8")
    return str(
        environment.get_template("evaluation.html.j2").render(
            found=found,
            model=model,
            data=data,
            headline=_headline(found),
            sentences=findings(found),
            pictures=pictures,
            panels={name: [Markup(svg) for svg in p.inline()] for name, p in pictures.items()},
            tables={table.name: table for table in (recall_table(found), stages_table(found))},
            findings=[],
            style=Markup(style),
            policy=Markup(POLICY),
        )
    )


def _unbroken(value: Any) -> Any:
    """No line ends between a number and its percent sign; markup is left alone."""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if type(value) is str else value


def _headline(found: Evaluation) -> dict[str, Any]:
    row = found.row(MODEL, k=found.k)
    return {"recall": share(row.recall), "interval": f"{share(row.low)} to {share(row.high)}"}
