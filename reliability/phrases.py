"""Phrases that sound translated: ``python -m reliability.phrases`` lists them and exits with 1.

``make lint`` runs it over the text and the code that users read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["PHRASES", "found"]

ROOT = Path(__file__).parent.parent
# Each with what to write instead.
PHRASES = {
    r"so many(?! (?:that|as))": "this many, or the name of the parameter",
    r"so-and-so-manyth": "every k-th",
    r"for ever": "forever",
    r"without a word": "silently",
    r"had answered": "returned",
    r"what is behind": "name it",
    r"say force=True": "pass force=True",
    r"is no (?:truth value|target|count)": "must be a ..., is not a supported ...",
    r"at the state of today": "leave it out",
    r"no difference is shown": "no significant difference is found",
    r"not shown to (?:differ|be)": "not significantly different, better, ...",
    r"refused by name": "raises an error naming the ...",
    r"k-means (?:is )?right on": "k-means reaches an accuracy of",
    r"shall": "must, will, or the imperative",
    r"for want of": "because of missing ...",
    r"at hand": "available, current, known",
    r"(?:is|are) no (?:model|truth|number|fault|progress|part of|complete)": "is not a ...",
    r"as surely as": "as reliably as",
    r"taken? up": "resumed",
}
PLACES = (
    *("*.md", "docs/*.md", "docs/*.rst", "docs/[egr]*/*.rst", "examples/*.py", "src/**/*.py"),
    *("**/*.j2", "paper/**/*.py", "benchmarks/*.py", "docs/**/*.py", "Makefile"),
)


def found(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, phrase and remedy of each phrase in `text`, also where it is broken over two lines."""
    for phrase, remedy in PHRASES.items():
        pattern = r"\b" + phrase.replace(" ", r"[\s#]+") + r"\b"
        for match in re.finditer(pattern, text, re.IGNORECASE):
            yield text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), remedy


def main() -> int:
    """Print all findings; return the exit status."""
    files = sorted({file for place in PLACES for file in ROOT.glob(place)})
    made = ROOT / "docs" / "gallery"
    lines = [
        f"{file.relative_to(ROOT)}:{line}: {phrase!r}: {remedy}"
        for file in files
        if made not in file.parents
        for line, phrase, remedy in found(file.read_text(encoding="utf-8"))
    ]
    print(*lines, sep="\n", end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
