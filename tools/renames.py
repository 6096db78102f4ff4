"""Rename things everywhere at once; removed when the house stands.

``python tools/renames.py`` applies every rule below to the files of its folders.  A rule is a
regular expression, what replaces it, and the folders or files it applies to.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
EVERYWHERE = ("src", "tests", "docs", "benchmarks", "reliability", "examples")
SOLVERS = ("src/sphericalpca/solvers", "src/sphericalpca/problem.py", "tests/solvers")
BACKENDS = (
    *("src/sphericalpca/rows", "src/sphericalpca/estimators"),
    *("tests/rows/test_namespace.py", "tests/estimators/test_array_api.py"),
)
DEVICES = (
    *("src/sphericalpca/rows/namespace", "src/sphericalpca/estimators"),
    *("tests/rows/test_namespace.py", "tests/estimators/test_array_api.py"),
)
# Columns of committed rows keep their names.
COLUMNS = ("paper", "tests/paper")

RULES: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = [
    # One word for the loss h, one (value) for f, which is maximised.
    (r"\bobjective_\b", "loss_", EVERYWHERE, ()),
    (r"(?<=\.)objective\b(?!\()", "loss", EVERYWHERE, ()),
    (r"(?<=[\"'])objective(?=[\"'])", "loss", EVERYWHERE, COLUMNS),
    (r"^(\s+)objective: float", r"\1loss: float", ("src",), ()),
    (r"def objective\(self\)", "def loss(self)", ("src", "tests/test_iterate.py"), ()),
    # What one pass tells at U; `Evaluation` is what `evaluate` returns to users.
    (r"\bEvaluation\b", "Point", SOLVERS, ()),
    (r"\bevaluation\b", "point", SOLVERS, ()),
    (r"\bEvaluatedState\b", "PointState", (*SOLVERS, "docs/extend"), ()),
    (r"\bstate\.evaluation\b", "state.point", ("docs/extend",), ()),
    # A'B, beside inner monitors and inner iterations.
    (r"(?<![\w\"'.])inner(?=\()", "inner_products", EVERYWHERE, ()),
    (r"(import (?:.*, )?)inner\b", r"\1inner_products", EVERYWHERE, ()),
    # A namespace and a device.
    (r"\bHome\b", "Backend", BACKENDS, ()),
    (r"\bhome_of\b", "backend_of", BACKENDS, ()),
    (r"\bcheck_same_home\b", "check_same_backend", BACKENDS, ()),
    (r"\brows\.home\b", "rows.backend", BACKENDS, ()),
    (r"\b(_?)home\b", r"\1backend", DEVICES, ()),
]


def files(folders: tuple[str, ...]) -> list[Path]:
    """Tracked text files of these folders."""
    listed = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    suffixes = {".py", ".rst", ".md"}
    return [ROOT / name for name in listed.stdout.split() if Path(name).suffix in suffixes]


def main() -> None:
    """Apply all rules."""
    for pattern, replacement, folders, excluded in RULES:
        skipped = set(files(excluded)) if excluded else set()
        for path in files(folders):
            if path in skipped or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8")
            changed = re.sub(pattern, replacement, text, flags=re.MULTILINE)
            if changed != text:
                path.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    main()
