"""Check that the committed rows belong to the current code, for ``make release-check``.

    python -m reliability.release                                  # lists rows of earlier code
    python -m reliability.release --record FOLDER/NAME.csv ...     # after measuring again
    python -m reliability.release --older 'not run again' FILE ... # keep them, with the reason

Rows of earlier code are an error unless the ledger gives a reason to keep them; `docs/claims.md`
shows the reason beside every table made from them.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from paper.provenance import made_with
from reliability.evidence import EVIDENCE, LEDGER, ROOT, Line, code_hash, read_ledger
from sphericalpca.files import write_whole

__all__ = ["faults", "mark_older", "record"]


def faults(root: Path = ROOT) -> Iterator[str]:
    """Problems of the ledgers: unknown files, and rows of earlier code."""
    for name, evidence in EVIDENCE.items():
        path = root / name
        line = read_ledger(path.parent).get(path.name)
        if line is None:
            yield f"{name}: not in {LEDGER}; add it with --record"
        elif not line.made_with:
            yield f"{name}: {LEDGER} does not say what it was made with"
        elif line.code != code_hash(evidence.code, root) and not line.older:
            again = f"run '{evidence.command}', then --record"
            yield f"{name}: older than the code it measures; {again}"
    for path in sorted({(root / name).parent for name in EVIDENCE}):
        for file in sorted(path.glob("*.csv")):
            name = file.relative_to(root).as_posix()
            if name not in EVIDENCE and file.name != LEDGER:
                yield f"{name}: not in reliability/evidence.py"


def record(name: str, root: Path = ROOT) -> None:
    """Write into the ledger that a file's rows were measured with the current code."""
    path = root / name
    _write(path.parent, Line(path.name, code_hash(EVIDENCE[name].code, root), _made_with(path)))


def _made_with(path: Path) -> str:
    """The provenance in the rows, if any; otherwise that of the current environment."""
    with path.open(newline="", encoding="utf-8") as file:
        said = dict.fromkeys(row.get("made_with") or "" for row in csv.DictReader(file))
    return " | ".join(filter(None, said)) or made_with()


def mark_older(name: str, reason: str, root: Path = ROOT) -> None:
    """Write into the ledger why a file's rows are kept though the code has changed."""
    path = root / name
    _write(path.parent, replace(read_ledger(path.parent)[path.name], older=reason))


def _write(folder: Path, line: Line) -> None:
    lines = read_ledger(folder) | {line.file: line}
    text = io.StringIO()
    writer = csv.DictWriter(text, list(vars(line)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(vars(lines[file]) for file in sorted(lines))
    write_whole(folder / LEDGER, text.getvalue().encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the ledgers, or write to them."""
    parser = argparse.ArgumentParser(prog="python -m reliability.release", description=__doc__)
    parser.add_argument("--record", action="store_true", help="the rows belong to the current code")
    parser.add_argument("--older", metavar="REASON", help="why rows of former code are kept")
    parser.add_argument("files", nargs="*", metavar="FILE")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.files if name not in EVIDENCE]:
        parser.error(f"{unknown[0]} is not in reliability/evidence.py; add it there first")
    for name in asked.files:
        if asked.record:
            record(name)
        if asked.older:
            mark_older(name, asked.older)
    found = list(faults())
    print("\n".join(found) or "All rows are of this code, or marked as older.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
