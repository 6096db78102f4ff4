"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

__all__ = ["setup"]

log = logging.getLogger(__name__)

# A bar that may stretch is as tall as its line, or sinks where it has an exponent.
STRETCHED, PLAIN = "<mo>‖</mo>", '<mo stretchy="false">‖</mo>'


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_formula(node, as_block=False))
    raise nodes.SkipNode


def _displayed(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{_formula(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _formula(node: nodes.Element, *, as_block: bool) -> str:
    """MathML; a formula that it cannot express is a warning, and stays as it was written."""
    if re.search(r"\\frac\s*\d", node.astext()):  # docutils reads 12 above what follows
        log.warning("formula: write \\frac{1}{2} with braces", location=node)
    try:
        return str(tex2mathml(node.astext(), as_block=as_block)).replace(STRETCHED, PLAIN)
    except MathError as error:
        log.warning("formula: %s", error, location=node)
        return f"<code>{escape(node.astext())}</code>"


def setup(app: Sphinx) -> dict[str, Any]:
    """Make this the way formulas are written."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
