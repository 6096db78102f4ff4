"""Groups of texts as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import NDArray

__all__ = ["Borderline", "CurvePoint", "Group", "PageData", "Problem", "Typical", "groups_page"]

# A text on the page ends after so many characters, the page after so many bytes.
EXCERPT, PAGE_BYTES = 300, 25_000_000


class Typical(NamedTuple):
    """A text near the centre of its group."""

    id: str
    excerpt: str
    cosine: float
    margin: float


class Borderline(NamedTuple):
    """A text nearly as close to another group as to its own."""

    id: str
    excerpt: str
    cosine: float
    margin: float
    other: int  # label of the second-best group


class CurvePoint(NamedTuple):
    """A number of groups that `-k auto` tried: its score, with an interval."""

    k: int
    score: float
    low: float
    high: float


class Problem(NamedTuple):
    """What was counted while reading, with the numbers of a few lines where it was seen."""

    count: int
    lines: Sequence[int] = ()


@dataclass(frozen=True)
class Group:
    """One group: what its texts have in common, and how well they fit."""

    label: int
    words: Sequence[tuple[str, float]]  # distinctive words and their weights, heaviest first
    size: int
    share: float  # of all texts
    mean_cosine: float  # of its texts to its centre
    typical: Sequence[Typical] = ()
    borderline: Sequence[Borderline] = ()


@dataclass(frozen=True)
class PageData:
    """What the page shows.  Arrays and lists of points have one entry per text."""

    title: str
    source: str  # the name of the file or folder
    groups: Sequence[Group]
    sphere: NDArray[Any]  # n x 3, unit rows; zeros for texts without a known word
    plane: NDArray[Any]  # n x 2
    group: NDArray[Any]  # n labels, -1 for texts without a known word
    cosine: NDArray[Any]  # n, to the centre of the group
    margin: NDArray[Any]  # n, over the second-best centre
    excerpts: Sequence[str]  # cut at 300 characters
    ids: Sequence[str]
    n_texts: int  # all of them, also where the points are a sample
    mean_cosine: float
    svd_ratio: float | None = None
    sampled: bool = False  # whether the points are a sample of the texts
    tree: NDArray[Any] | None = None  # scipy's linkage of the centres, heights in degrees
    curve: Sequence[CurvePoint] | None = None  # of `-k auto`
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, Problem] = field(default_factory=dict)  # "malformed lines": ...
    unassigned: Sequence[tuple[str, str]] = ()  # id and excerpt of texts without a known word


def groups_page(data: PageData) -> str:
    """The page as text."""
    raise NotImplementedError
