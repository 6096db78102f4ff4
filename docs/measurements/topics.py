"""The README's picture: topics of docstrings on a sphere, and the accuracies in its titles.

Runs the example that draws it, writes ``docs/static/topics.png``, its twin for the dark theme and,
beside this file, ``topics.csv``.  The docstrings are those of the installed versions, which the
rows name::

    python docs/measurements/topics.py
"""

from __future__ import annotations

import csv
import runpy
import sys
from importlib.metadata import version
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[1]
EXAMPLE = DOCS.parent / "examples" / "plot_topics.py"
PICTURE = DOCS / "static" / "topics.png"
ROWS = Path(__file__).with_name("topics.csv")


def main() -> None:
    """Run the example, keep its picture and its numbers."""
    mpl.use("Agg")
    names = runpy.run_path(str(EXAMPLE))
    plt.gcf().savefig(PICTURE, dpi=190)
    sys.path.insert(0, str(DOCS))
    from extensions.dark import save_dark  # noqa: PLC0415 - of the site

    save_dark(plt.gcf(), str(PICTURE), dpi=190)
    corpora = " ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    with ROWS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["method", "right", "documents", "corpora"])
        for method, right in names["right"].items():
            writer.writerow([method, f"{right:.4f}", names["X"].shape[0], corpora])


if __name__ == "__main__":
    main()
