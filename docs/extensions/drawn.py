"""Pictures and tables of the results, drawn from the committed rows when the site is built."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

import sphericalpca
from extensions.dark import save_dark, save_dark_svg

__all__ = ["draw", "setup"]

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "paper" / "results"
BENCHMARKS = ROOT / "benchmarks" / "results"
EMBEDDINGS = ROOT / "docs" / "measurements" / "embeddings.csv"

# The code that draws: where it changes, everything is drawn anew.
DRAUGHTSMEN = (
    ROOT / "paper" / "report",
    Path(sphericalpca.__file__).parent / "pages",
    ROOT / "benchmarks",
    Path(__file__).parent,
)

log = logging.getLogger(__name__)


def draw(folder: Path) -> None:
    """Draw everything into `folder`, unless the same was drawn from the same before."""
    rows = [*RESULTS.glob("*.csv"), *BENCHMARKS.glob("*.csv"), EMBEDDINGS]
    digest = _digest([*rows, *(file for place in DRAUGHTSMEN for file in place.rglob("*.py"))])
    mark = folder / "digest.txt"
    if mark.exists() and mark.read_text(encoding="ascii") == digest:
        return
    log.info("drawing results from the committed rows ...")
    shutil.rmtree(folder, ignore_errors=True)
    _draw_reproduction(_copied(RESULTS, folder / "reproduction"))
    _draw_benchmarks(_copied(BENCHMARKS, folder / "benchmarks"))
    _draw_comparison(folder / "comparison")
    mark.write_text(digest, encoding="ascii")


def _digest(files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(file.name.encode() + file.read_bytes())
    return total.hexdigest()


def _copied(source: Path, folder: Path) -> Path:
    """The rows of a folder in another one, to be drawn beside."""
    folder.mkdir(parents=True)
    for file in source.glob("*.csv"):
        shutil.copy(file, folder)
    return folder


def _draw_reproduction(folder: Path) -> None:
    from paper.report import summary_markdown, write_report  # noqa: PLC0415 - slow
    from paper.report.read import read_results  # noqa: PLC0415

    report = write_report(folder)
    for picture in (folder / "figures").glob("*.svg"):
        save_dark_svg(picture)
    lines = []
    for line in report.headlines:
        lines.append(f"- **{line.label}** {line.lead}")
        lines += [f"  - {detail}" for detail in line.details]
    rows = read_results(folder).rows
    lines.append(f"- **Rows.** All this sums up {len(rows):,} clusterings.")
    (folder / "summary.md").write_text(summary_markdown(rows), encoding="utf-8")
    (folder / "headlines.md").write_text("\n".join(lines), encoding="utf-8")
    # Whole pages are put on the site as they are.
    pages = folder.parent / "pages"
    pages.mkdir()
    shutil.move(report.page, pages / "report.html")


def _draw_benchmarks(folder: Path) -> None:
    from benchmarks import plots, summary  # noqa: PLC0415 - slow
    from sphericalpca.plotting.style import save_picture  # noqa: PLC0415 - slow

    def save(figure: Any, path: Path) -> None:
        save_picture(figure, path)
        save_dark(figure, str(path), dpi=160)

    with patch.object(plots, "save_picture", save):
        plots.draw(folder)
    summary.write(folder)
    (folder / "speed.md").write_text(summary.readme_table(folder), encoding="utf-8")


def _draw_comparison(folder: Path) -> None:
    from extensions import comparison  # noqa: PLC0415 - slow

    folder.mkdir(parents=True)
    for name, text in {
        "bands": comparison.bands_table(RESULTS),
        "ratios": comparison.ratios_table(RESULTS),
        "svd": comparison.svd_table(BENCHMARKS / "rows.csv"),
        "gaps": comparison.gaps_table(BENCHMARKS / "rows.csv"),
        "groups": comparison.groups_table(BENCHMARKS / "groups.csv"),
        "promises": comparison.promises_table(BENCHMARKS / "groups_reach.csv"),
        "embeddings": comparison.embeddings_table(EMBEDDINGS),
    }.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def _draw_for(app: Sphinx, _config: Config) -> None:
    draw(Path(app.srcdir) / "drawn")


def setup(app: Sphinx) -> dict[str, Any]:
    """Draw before Sphinx looks for pages and for files to copy."""
    app.connect("config-inited", _draw_for, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
