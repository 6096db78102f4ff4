"""The paper moves beside the package; removed when the house stands."""

from __future__ import annotations

import renames

EVERYWHERE = (*renames.EVERYWHERE, "paper", "README.md", "CONTRIBUTING.md", "SECURITY.md")
FETCHED = "corpus|download|fetching|files|home|integrity|loaders|registry|sources|tables"

RULES_H1: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = [
    # Pages share one room of the package.
    (
        r"sphericalpca\.experiments\.report\.tables\.grid\b",
        "sphericalpca.pages.tables",
        EVERYWHERE,
        (),
    ),
    (
        r"sphericalpca\.experiments\.report\.figures\.picture\b",
        "sphericalpca.pages.pictures",
        EVERYWHERE,
        (),
    ),
    (r"sphericalpca\.evaluation_report\b", "sphericalpca.evaluation.page", EVERYWHERE, ()),
    # The reproduction is a package of its own.
    (r"sphericalpca\.experiments\.paper\b", "paper.printed", EVERYWHERE, ()),
    (r"sphericalpca\.experiments\b", "paper", EVERYWHERE, ()),
    (r"\bsphericalpca/experiments/", "paper/", EVERYWHERE, ()),
    (r"\bsrc/paper/", "paper/", EVERYWHERE, ()),
    (r"\btests/experiments/", "tests/paper/", EVERYWHERE, ()),
    (rf"sphericalpca\.datasets\.({FETCHED})\b", r"paper.datasets.\1", EVERYWHERE, ()),
    (
        rf"tests/datasets/test_({FETCHED}|real_files)\b",
        r"tests/paper/datasets/test_\1",
        EVERYWHERE,
        (),
    ),
    (
        r"from sphericalpca\.datasets import ((?:DATASETS|available|fetch|get_data_home"
        r"|load_newsgroups|load_uci|registry|files|download as downloading)(?:, \w+)*)$",
        r"from paper.datasets import \1",
        EVERYWHERE,
        (),
    ),
    (r"sphericalpca\.cli\.(datasets|reproduce)\b", r"paper.cli.\1", EVERYWHERE, ()),
    (r"tests/cli/test_(datasets|reproduce)\b", r"tests/paper/cli/test_\1", EVERYWHERE, ()),
    (r"sphericalpca(?: --debug)? (reproduce|datasets)\b", r"python -m paper \1", EVERYWHERE, ()),
    (
        r"sphericalpca\.metrics\.(?:ceiling\.)?nmi_ceiling\b",
        "paper.ceiling.nmi_ceiling",
        EVERYWHERE,
        (),
    ),
    (
        r"(?<![\w/.])results/(?=report\.html|tables|figures|rows\.csv)",
        "paper/results/",
        EVERYWHERE,
        (),
    ),
]

if __name__ == "__main__":
    renames.RULES = RULES_H1
    renames.main()
