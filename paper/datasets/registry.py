"""The data sets, and the facts of each.

A file is identified by its sha256.  A file that was made from another container, or
compressed again, has other bytes.  It is identified by facts of its content: its rows,
its columns, the size of each class, and sums over all values or a digest of all words.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sphericalpca.exceptions import DataError

__all__ = ["DATASETS", "VIEWS", "Dataset", "Facts", "Source", "find"]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts that identify a content.

    Parameters
    ----------
    rows : int
    features : int
        Number of columns without the label; 0 for texts.
    classes : mapping of str to int
        Rows of each class; integer labels are written as text.
    fingerprint : tuple of float
        Tables: the sums of ``w[j] (y[i] + 1) X[i, j]`` and of ``w[j] (y[i] + 1) |X[i, j]|``
        with ``w[j] = 1 + (j g mod 1)``, g = 0.618... the golden section.  They change with
        signs and where columns or labels are exchanged, but not with the order of the rows.
        Texts: the number of words.
    digest : str, default=""
        Texts: a sha256 of all words with the id, group and subset of each document, which
        depends neither on the order of the documents nor on the kind of line ends.
    """

    rows: int
    features: int
    classes: Mapping[str, int]
    fingerprint: tuple[float, ...]
    digest: str = ""


@dataclass(frozen=True)
class Source:
    """Where a data set can be fetched.

    Parameters
    ----------
    kind : {"zip", "openml", "scikit-learn"}
        A zip archive, or one of scikit-learn's own fetchers.
    label : str
        A short name.
    address : str
        URL of the archive, page at OpenML, which ends in the number of the set, or name of
        the fetcher.
    """

    kind: Literal["zip", "openml", "scikit-learn"]
    label: str
    address: str


@dataclass(frozen=True, kw_only=True)
class Dataset(Facts):
    """A data set: its facts, its file and where it comes from.

    Parameters
    ----------
    name : str
        Name of the data set for users.
    file : str
        Name of its file in the data home.
    what : str
        One line of description.
    sha256 : str
        The sha256 of the reference file.
    origin, licence : str
    source : Source
    """

    name: str
    file: str
    what: str
    sha256: str
    origin: str
    licence: str
    source: Source

    @property
    def is_text(self) -> bool:
        """Whether the rows are documents and not numbers."""
        return self.features == 0

    @property
    def shape(self) -> str:
        """Rows and features, as text."""
        return f"{self.rows} texts" if self.is_text else f"{self.rows} x {self.features}"


# Views of the multiple features data: columns, content, fingerprint and sha256 of the file.
# The order is that of the columns of all views together.
VIEWS: dict[str, tuple[int, str, tuple[float, float], str]] = {
    "fac": (
        216,
        "profile correlations",
        (1132068386.429582, 1132068386.429582),
        "46fd1be02eea066104be874b60ee993a7f37cc35decc3f1aebb8e0ebe50b7798",
    ),
    "fou": (
        76,
        "Fourier coefficients of the shapes",
        (166198.636075, 166198.636075),
        "7f832c8533d5acc7523d732f8e939f413b381502a09205016d266154270d08dd",
    ),
    "kar": (
        64,
        "Karhunen-Loeve coefficients",
        (40471.060829, 1863268.032547),
        "413dc1701d6a38ecc69f1d24ccde5d2587a9deff102b657407c046d4d25c0373",
    ),
    "mor": (
        6,
        "morphological features",
        (74494708.237556, 74494708.237556),
        "3e02686a8a42cabb7673ed806b78713157249a81c3743f3730884080cc3b8d30",
    ),
    "pix": (
        240,
        "pixel averages in 2 x 3 windows",
        (11878482.709535, 11878482.709535),
        "8325ebb145ce852d69f4939afcf243a0f22ac913bd0b39288710d750ebb771f8",
    ),
    "zer": (
        47,
        "Zernike moments",
        (67644944.265018, 67644944.265018),
        "5f7ab2a5d7afcfb09138b5ec909c82ce091a01d10880310b63a2b0378bdb8258",
    ),
}

_UCI = "https://archive.ics.uci.edu/static/public"
_CC_BY = "CC BY 4.0"

_NEWSGROUPS = Dataset(
    name="newsgroups",
    file="newsgroups20_bydate.jsonl.gz",
    what="20 newsgroups, by date, with headers",
    rows=18846,
    features=0,
    classes={
        "alt.atheism": 799,
        "comp.graphics": 973,
        "comp.os.ms-windows.misc": 985,
        "comp.sys.ibm.pc.hardware": 982,
        "comp.sys.mac.hardware": 963,
        "comp.windows.x": 988,
        "misc.forsale": 975,
        "rec.autos": 990,
        "rec.motorcycles": 996,
        "rec.sport.baseball": 994,
        "rec.sport.hockey": 999,
        "sci.crypt": 991,
        "sci.electronics": 984,
        "sci.med": 990,
        "sci.space": 987,
        "soc.religion.christian": 997,
        "talk.politics.guns": 910,
        "talk.politics.mideast": 940,
        "talk.politics.misc": 775,
        "talk.religion.misc": 628,
    },
    fingerprint=(5345781,),
    digest="c16a435668825557e286ec6a62ac621fbe2a6808c203f54b2380ba28dce1b3c9",
    sha256="09ca6f696088029cd02212c7c24e50c25e49056857b541aa68680dd714073163",
    origin="Ken Lang; distributed by Jason Rennie, http://qwone.com/~jason/20Newsgroups/",
    licence="none stated; in general use for research",
    source=Source("scikit-learn", "scikit-learn", "sklearn.datasets.fetch_20newsgroups"),
)

_GLASS = Dataset(
    name="glass",
    file="glass.csv.gz",
    what="refractive index and oxides of glass samples",
    rows=214,
    features=9,
    classes={"1": 70, "2": 76, "3": 17, "5": 13, "6": 9, "7": 29},
    fingerprint=(123428.890626, 123428.890626),
    sha256="704405a0938bd134e2ecf6955774b561bc29a8cc16181116189699bba3273318",
    origin="B. German (1987), UCI data set 42",
    licence=_CC_BY,
    source=Source("zip", "UCI 42", f"{_UCI}/42/glass+identification.zip"),
)

_DIABETES = Dataset(
    name="diabetes",
    file="diabetes_pima.csv.gz",
    what="Pima Indians diabetes; zeros in f1 to f5 are mostly missing readings",
    rows=768,
    features=8,
    classes={"0": 500, "1": 268},
    fingerprint=(559824.167882, 559824.167882),
    sha256="4a53570283845976591083fedc65cd0f02e5b163f074c44ca0620bb5a4e9bab2",
    origin="NIDDK; V. Sigillito (1990), formerly at UCI",
    licence="widely passed on as public domain (CC0)",
    source=Source("openml", "OpenML 37", "https://www.openml.org/d/37"),
)

_ISOLET = Dataset(
    name="isolet",
    file="isolet.csv.gz",
    what="spoken names of the letters, 150 speakers",
    rows=7797,
    features=617,
    classes={str(letter): {6: 298, 13: 299}.get(letter, 300) for letter in range(1, 27)},
    fingerprint=(6456222.85361, 56887894.128539),
    sha256="90f8720d3076c4eee332291146f0d335fff0e4066704e51d4cd5c7c653097dfc",
    origin="R. Cole and M. Fanty (1991), UCI data set 54",
    licence=_CC_BY,
    source=Source("openml", "OpenML 300", "https://www.openml.org/d/300"),
)


def _mfeat(
    name: str, features: int, what: str, fingerprint: tuple[float, float], sha256: str
) -> Dataset:
    return Dataset(
        name=name,
        file=f"{name.replace('-', '_')}.csv.gz",
        what=f"handwritten digits, {what}",
        rows=2000,
        features=features,
        classes={str(digit): 200 for digit in range(10)},
        fingerprint=fingerprint,
        sha256=sha256,
        origin="R. P. W. Duin (1998), UCI data set 72",
        licence=_CC_BY,
        source=Source("zip", "UCI 72", f"{_UCI}/72/multiple+features.zip"),
    )


_MFEAT = _mfeat(
    "mfeat",
    649,
    "all six views",
    (1285290549.319966, 1287068818.53194),
    "4ffa9c8094d5fbe3e1e73beca30a1132e0f30f8f42f3fb15f3a5374fa2d057e5",
)

DATASETS: dict[str, Dataset] = {
    record.name: record
    for record in (
        _NEWSGROUPS,
        _GLASS,
        _DIABETES,
        _MFEAT,
        *(_mfeat(f"mfeat-{view}", *facts) for view, facts in VIEWS.items()),
        _ISOLET,
    )
}


def find(name: str) -> Dataset:
    """The record of a data set; a DataError lists the known names."""
    if name in DATASETS:
        return DATASETS[name]
    close = difflib.get_close_matches(str(name), DATASETS, n=1)
    hint = f"did you mean {close[0]!r}? There" if close else "there"
    raise DataError(f"No data set {name!r}", remedy=f"{hint} are {', '.join(DATASETS)}")
