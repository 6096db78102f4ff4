"""Renames in the rooms of rows and files; removed when the house stands.

``python tools/renames_h2.py`` applies every rule, in order; a second run changes nothing.
"""

from __future__ import annotations

import renames

EVERYWHERE = renames.EVERYWHERE
CLUSTER = ("src/sphericalpca/rows/cluster", "tests/rows/cluster")

RULES_H2: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = [
    # Modules that became one.
    (r"\brows\.(dense|csr|inmemory)\b(?= import)", "rows.memory", EVERYWHERE, ()),
    (r"\bsphericalpca\.rows\.source\b", "sphericalpca.rows.reading", EVERYWHERE, ()),
    (r"\brows\.namespace\.block\b", "rows.namespace.rows", EVERYWHERE, ()),
    (r"\brows\.namespace\.lengths\b", "rows.namespace.matrix", EVERYWHERE, ()),
    (r"\brows\.sources\.(paths|budget)\b", "rows.sources.opening", EVERYWHERE, ()),
    (r"\brows\.sources\.datafile\b", "rows.sources.filesource", EVERYWHERE, ()),
    (r"\brows\.sources\.archive\b", "rows.sources.npy", EVERYWHERE, ()),
    (r"\brows\.sources\.arrow_footer\b", "rows.sources.arrow", EVERYWHERE, ()),
    (r"\brows\.cluster\.(chunk|inprocess)\b", "rows.cluster.chunks", EVERYWHERE, ()),
    (r"\bsphericalpca\.writing\.(carried|writers)\b", "sphericalpca.writing", EVERYWHERE, ()),
]


if __name__ == "__main__":
    renames.RULES = RULES_H2
    renames.main()
