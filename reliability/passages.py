"""Numbers in running text: which paragraphs have measured ones, and the rows behind them.

A paragraph is identified by some of its words, or else by its page.  An unknown paragraph is an
error, as with tables; see `reliability.claims`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["BEHIND", "PLAIN", "Passage", "numbers_in", "passages_of"]

PAPER = "paper/results/"
BENCH = "benchmarks/results/"
MEASURED = "docs/measurements/"
RELIABILITY = "reliability/results/"

# Words of a paragraph, or its page, and the rows (or tests) behind its numbers; the first counts.
BEHIND: dict[str, tuple[str, ...]] = {
    "Docstrings of numpy": (f"{MEASURED}topics.csv",),
    "newsgroups that the paper names": (f"{PAPER}rows.csv",),
    "within .05 of ours": (f"{PAPER}rows.csv",),
    "numbers takes about": (f"{BENCH}reach.csv",),
    "after one pass is within": (f"{MEASURED}streams.csv",),
    "of 384 dimensions in float32": (f"{BENCH}embeddings.csv", f"{BENCH}codes.csv"),
    "faiss keeps fewer": (f"{BENCH}codes.csv", f"{BENCH}codes_reach.csv"),
    "(384 numbers, 1,000 held-out": (f"{BENCH}codes.csv",),
    "contains the true cosine": (f"{BENCH}codes_reach.csv",),
    "codes of 16, 32 and 64 bytes": (f"{BENCH}codes.csv",),
    "cannot scale decoded vectors": (f"{BENCH}codes.csv",),
    "docs/guide/certificate.rst": (f"{BENCH}certificates.csv",),
    "half of the 384 dimensions": (f"{BENCH}embeddings.csv",),
    "docs/guide/is-and-is-not.rst": (f"{PAPER}rows.csv",),
    "on the digits it needs": (f"{BENCH}reach.csv",),
    "the agreement between seeds": (f"{BENCH}groups.csv",),
    "times as long as LSA": (f"{PAPER}rows.csv",),
    "docs/paper.md": ("tests/test_paper.py", f"{PAPER}solvers.csv"),
    "minutes of one core": (f"{RELIABILITY}hostile.csv",),
    "runs in three rounds": (f"{RELIABILITY}fuzz.csv",),
    "memory grew by": (f"{RELIABILITY}soak.csv",),
    "check of a sparse matrix": (f"{MEASURED}sparse_check.csv",),
    "Could a certificate be wrong?": (f"{RELIABILITY}bounds.csv",),
    "best known value": (f"{RELIABILITY}optima.csv",),
    "mutants were not detected": (f"{RELIABILITY}mutants.csv",),
    "The oldest versions": (f"{RELIABILITY}versions.csv",),
    "docs/results/benchmarks.rst": (f"{BENCH}groups.csv", f"{BENCH}reach.csv"),
    "how far its mean cosine is below": (f"{MEASURED}streams.csv",),
    "SVD of all rows": (f"{MEASURED}streams.csv",),
    "A Dask array or data frame": (f"{BENCH}cluster.csv",),
    "Dask takes": (f"{BENCH}cluster.csv",),
    "a round trip of": (f"{BENCH}cluster.csv", f"{BENCH}outofcore.csv"),
    "ms per worker were measured": (f"{BENCH}cluster.csv",),
    "docs/scaling.md": (f"{BENCH}outofcore.csv",),
}

# Paragraphs whose numbers are settings, limits or counts, not measurements.
PLAIN = (
    *("Python 3.11", "(3.11 or later)", "scikit-learn 1.6 the dispatch", "the smallest dimension"),
    *("at most 2,048", "up to 2,048", "docs/start.rst", "a margin below", "is significant."),
    *("file system of 4 kB", "The limits are 3 GB", "more than 64 MB", "after 30 seconds"),
    "Texts *fit poorly* if",
)

# A decimal, a number with separators, or one with a unit.
UNITS = r"\s*(?:%|(?:times|ms|seconds?|minutes?|hours?|kB|MB|GB)\b)"
MEASURED_NUMBER = re.compile(rf"(?<![\w.,])(?:\d*\.\d|\d{{1,3}},\d{{3}}|\d+{UNITS})")


@dataclass(frozen=True)
class Passage:
    """A paragraph, or a list without blank lines, with measured numbers."""

    page: str
    heading: str
    text: str

    @property
    def head(self) -> str:
        """Its first words."""
        words = _plain(self.text).split()
        return " ".join(words[:12]) + (" ..." if len(words) > 12 else "")

    @property
    def numbers(self) -> tuple[str, ...]:
        """All its numbers."""
        return numbers_in(self.text)

    @property
    def measures(self) -> bool:
        """Whether its numbers are results."""
        return not any(words in self._whole for words in PLAIN)

    @property
    def sources(self) -> tuple[str, ...]:
        """Files of rows, or tests, that the numbers come from."""
        found = next((files for words, files in BEHIND.items() if words in self._whole), None)
        if found is None:
            raise LookupError(
                f"{self.page}, '{self.heading}': no source for the numbers of '{self.head}'; name "
                "it in BEHIND or PLAIN of reliability/passages.py"
            )
        return found

    @property
    def _whole(self) -> str:
        return f"{self.page} {' '.join(_without_code(self.text).split())}"


def passages_of(page: str, text: str) -> Iterator[Passage]:
    """The paragraphs of a page that have measured numbers.

    Code, directives and tables are left out: tests run code, and tables have their own entries.
    """
    heading = ""
    for block in re.split(r"(\n\s*\n|^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL):
        heading = _heading(block) or heading
        words = " ".join(_without_code(block).split())
        if not _is_apart(block) and MEASURED_NUMBER.search(words):
            yield Passage(page, heading, " ".join(block.split()))


def numbers_in(text: str) -> tuple[str, ...]:
    """The numbers of a text; code and links do not count."""
    found = r"(?<![\w.])-?(?:\d[\d,]*)?\.?\d+(?:e-?\d+)?"
    return tuple(re.findall(found, _without_code(text)))


def _without_code(text: str) -> str:
    return re.sub(r"``[^`]*``|`[^`]*`_*|\]\([^)]*\)", "", text)


def _plain(text: str) -> str:
    """A text without marks of lists, code and links."""
    text = re.sub(r":\w+:`~?([^`<]*?)(?: <[^>]*>)?`|\[([^\]]*)\]\([^)]*\)", r"\1\2", text)
    return re.sub(r"`+|\\", "", text).removeprefix("- ")


def _heading(block: str) -> str:
    """The heading that a block holds, if any."""
    found = re.search(r"^#+ (.+)$|^(\S.*)\n([=-])\3{3,}$", block, flags=re.MULTILINE)
    return (found[1] or found[2]) if found else ""


def _is_apart(block: str) -> bool:
    """Whether a block is code, a directive or a table."""
    lines = block.strip("\n").split("\n")
    return lines[0].startswith((" ", "\t", "..", "```")) or any(
        line.startswith("|") for line in lines
    )
