"""Every table of numbers in README and docs, and where it comes from: ``docs/claims.md``.

    python -m reliability.claims           # write the page
    python -m reliability.claims --check   # only tell whether it is up to date

A table is known by the words of its head, wherever it stands, so pages may be rearranged.  One that
nobody knows is an error: name its source in `SOURCES`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reliability.evidence import EVIDENCE, ROOT, read_ledger
from sphericalpca.files import write_whole

__all__ = ["PAGE", "SOURCES", "Table", "claims", "tables", "tables_of"]

PAGE = "docs/claims.md"

PAPER = "paper/results/"
BENCH = "benchmarks/results/"
MEASURED = "docs/measurements/"
RELIABILITY = "reliability/results/"
NEWSGROUPS = (f"{PAPER}rows.csv",)

# Words in the head of a table, or the name of a drawn one, and the rows (or tests) behind it.
SOURCES: dict[str, tuple[str, ...]] = {
    "sphericalpca | alternatives": (
        *(f"{BENCH}{name}.csv" for name in ("groups", "codes", "reach")),
        *(f"{PAPER}named.csv", f"{MEASURED}embeddings.csv"),
    ),
    "paper | says | here": ("tests/test_paper.py",),
    "where | printed": ("tests/test_paper.py",),
    "NMI printed": ("tests/test_paper.py",),
    "amount | still open": tuple(
        f"{RELIABILITY}{name}.csv" for name in ("kill", "hostile", "fuzz", "sanitize", "soak")
    ),
    "killed while running": (f"{RELIABILITY}kill.csv",),
    "target | runs": (f"{RELIABILITY}fuzz.csv",),
    "below the best known": (f"{RELIABILITY}optima.csv",),
    "detected | timed out": (f"{RELIABILITY}mutants.csv",),
    "Python | versions": (f"{RELIABILITY}versions.csv",),
    "rows per second": (f"{BENCH}outofcore.csv",),
    "after one pass": (f"{MEASURED}streams.csv",),
    "one | two | scaling": (f"{BENCH}cluster.csv",),
    "machines | compute": (f"{BENCH}cluster.csv", f"{BENCH}outofcore.csv"),
    "comparison/embeddings.md": (f"{MEASURED}embeddings.csv",),
    "comparison/bands.md": NEWSGROUPS,
    "comparison/ratios.md": NEWSGROUPS,
    "comparison/groups.md": (f"{BENCH}groups.csv",),
    "comparison/promises.md": (f"{BENCH}groups_reach.csv",),
    "comparison/": (f"{BENCH}rows.csv",),
    "benchmarks/speed.md": (f"{BENCH}reach.csv",),
    "benchmarks/summary.md": tuple(f"{BENCH}{name}.csv" for name in ("reach", "rows", "growth")),
    "tables/convergence-": (f"{PAPER}solvers.csv", f"{PAPER}convergence.csv"),
    "reproduction/headlines.md": (f"{PAPER}rows.csv", f"{PAPER}solvers.csv"),
    "reproduction/summary.md": NEWSGROUPS,
    "reproduction/tables/": NEWSGROUPS,
}

# Tables that measure nothing: what a call does, what an option means, what was found by reading.
NO_MEASUREMENTS = (
    *("| X is", "| `--to`", "column or collection", "found | then", "found | now", "| | |"),
)

INTRODUCTION = """\
# Where the numbers come from

Written by `python -m reliability.claims`; `make release-check` compares it with the pages. It has,
for every table of README and docs, the numbers, the rows they come from, and the command that
measures them again. Commands that start with `python -m paper` need the data files
(`python -m paper datasets fetch`). Rows marked as older were measured with former code, and are
kept for the reason given.
"""


@dataclass(frozen=True)
class Table:
    """A table of a page: its heading, its head (or the name of a drawn table), its numbers."""

    page: str
    heading: str
    head: str
    numbers: tuple[str, ...]

    @property
    def measures(self) -> bool:
        """Whether there is something in it to be measured again."""
        drawn = self.head.endswith(".md")
        plain = any(words in self.head for words in NO_MEASUREMENTS)
        return drawn or (bool(self.numbers) and not plain)

    @property
    def sources(self) -> tuple[str, ...]:
        """Files of rows, or tests, that the numbers come from."""
        found = next((files for words, files in SOURCES.items() if words in self.head), None)
        if found is None:
            raise LookupError(
                f"{self.page}, '{self.heading}': no source for the table '{self.head}'; name it in "
                f"SOURCES or NO_MEASUREMENTS of reliability/claims.py"
            )
        return found


def tables(root: Path = ROOT) -> Iterator[Table]:
    """All tables of README and docs, page by page; what is generated is left out."""
    docs = root / "docs"
    pages = [*docs.glob("*.md"), *docs.rglob("*.rst")]
    generated = {"api", "drawn", "gallery", "templates"}
    for page in [root / "README.md", *sorted(pages)]:
        name = page.relative_to(root).as_posix()
        if name != PAGE and not generated & set(page.relative_to(root).parts):
            yield from tables_of(name, page.read_text(encoding="utf-8"))


def tables_of(name: str, text: str) -> Iterator[Table]:
    """The tables of a page in Markdown or reStructuredText."""
    heading, lines, before = "", text.split("\n"), ""
    for place, line in enumerate(lines):
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif re.fullmatch(r"([=-])\1{3,}", line):
            heading = before
        elif drawn := re.match(r"\.\. from-rows:: (\S+)", line):
            yield Table(name, heading, drawn[1], ())
        elif re.fullmatch(r"\|[ :|-]*-[ :|-]*\|", line) and before.startswith("|"):
            yield Table(name, heading, before, _numbers(lines[place + 1 :]))
        before = line


def _numbers(lines: Sequence[str]) -> tuple[str, ...]:
    """The numbers in the lines of a table; code and links do not count."""
    end = next((at for at, line in enumerate(lines) if not line.startswith("|")), len(lines))
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", "", "\n".join(lines[:end]))
    return tuple(re.findall(r"(?<![\w.])-?(?:\d[\d,]*)?\.?\d+(?:e-?\d+)?", text))


def claims(root: Path = ROOT) -> str:
    """The page, from the pages and ledgers as they are."""
    parts = [INTRODUCTION]
    page = ""
    for table in tables(root):
        if table.measures:
            parts += [f"## {table.page}\n"] if table.page != page else []
            page = table.page
            parts.append(_entry(table, root))
    return "\n".join(parts)


def _entry(table: Table, root: Path) -> str:
    what = f"drawn from `{table.head}`" if table.head.endswith(".md") else _short(table.head)
    lines = [f"**{table.heading}**: {what}\n", *(_source(name, root) for name in table.sources)]
    if table.numbers:
        lines.append(f"- numbers: {' '.join(table.numbers)}")
    return "\n".join(lines) + "\n"


def _short(head: str) -> str:
    return ", ".join(filter(None, (cell.strip() for cell in head.split("|"))))


def _source(name: str, root: Path) -> str:
    if name not in EVIDENCE:
        return f"- `{name}`: `python -m pytest {name}`"
    line = read_ledger((root / name).parent).get(Path(name).name)
    older = f"; **older than the code**: {line.older}" if line and line.older else ""
    return f"- `{name}`: `{EVIDENCE[name].command}`{older}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or tell whether it is up to date."""
    parser = argparse.ArgumentParser(prog="python -m reliability.claims", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    path, text = ROOT / PAGE, claims()
    if not parser.parse_args(arguments).check:
        write_whole(path, text.encode())
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        print(f"{PAGE} is out of date: run 'python -m reliability.claims'")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
