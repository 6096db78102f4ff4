"""Renames of the estimator room and the command line; removed when the house stands.

``python tools/renames_h4.py`` applies the rules below, as `renames` does its own.
"""

from __future__ import annotations

import renames

EVERYWHERE = (*renames.EVERYWHERE, "paper")
ROOM = r"(sphericalpca\.estimators)"

RULES_H4: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = [
    (ROOM + r"\.batch import", r"\1.fit import", EVERYWHERE, ()),
    (ROOM + r"\.fitting import", r"\1.fit import", EVERYWHERE, ()),
    (ROOM + r"\.path import", r"\1.fit import", EVERYWHERE, ()),
    (ROOM + r"\.door import", r"\1.validation import", EVERYWHERE, ()),
    (ROOM + r"\.columns import", r"\1.foreign import", EVERYWHERE, ()),
    (ROOM + r"\.lazy\b", r"\1.foreign", EVERYWHERE, ()),
    (
        ROOM + r"\.namespaces import model_on_host",
        r"\1.fitted import model_on_host",
        EVERYWHERE,
        (),
    ),
    (ROOM + r"\.reporting import", r"\1.monitoring import", EVERYWHERE, ()),
    (ROOM + r"\.progress import", r"\1.monitoring import", EVERYWHERE, ()),
    (ROOM + r" import progress\b", r"\1 import monitoring", ("tests",), ()),
    (r"\(progress, \"INTERVAL\"", '(monitoring, "INTERVAL"', ("tests",), ()),
    (r"\bprogress\.INTERVAL\b", "monitoring.INTERVAL", ("tests",), ()),
    (ROOM + r" import namespaces\b", r"\1 import foreign", ("tests",), ()),
    (r"\bnamespaces\.brought\b", "foreign.as_numpy_or_namespace", ("tests",), ()),
    (r"\bnamespaces\b(?=[,.] ?\"?(host_view|backend_of))", "foreign", ("tests",), ()),
    (r"(estimators) import path\b", r"\1 import fit", ("tests/estimators/test_share.py",), ()),
    (r"setattr\(path, ", "setattr(fit, ", ("tests/estimators/test_share.py",), ()),
    (r"\bknown_as\b", "set_names", ("src/sphericalpca/evaluation",), ()),
    (
        r"\"sphericalpca\.estimators\.saving\"",
        '"sphericalpca.estimators.fitted"',
        ("reliability",),
        (),
    ),
    (
        r"sphericalpca\.cli\.(wording|tables) import",
        "sphericalpca.cli.console import",
        EVERYWHERE,
        (),
    ),
    (r"\btelling_warnings\b", "printing_warnings", EVERYWHERE, ()),
]

if __name__ == "__main__":
    renames.RULES = RULES_H4
    renames.main()
