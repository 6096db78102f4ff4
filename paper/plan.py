"""What is run: every trial of every experiment, fixed before the first fit.

A trial is one method on one draw.  It knows names and numbers only, no data, so a plan
costs nothing, and what a trial computes depends on its own fields alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from paper.datasets.registry import DATASETS, VIEWS
from paper.methods import METHODS

__all__ = ["EXPERIMENTS", "PAPER_GROUPS", "SCIKIT_LEARN_GROUPS", "ExperimentPlan", "Trial"]

EXPERIMENTS = ("toy", "newsgroups", "rank", "uci", "lsa")

# The five groups that the paper names.
PAPER_GROUPS = (
    "comp.graphics",
    "rec.motorcycles",
    "rec.sport.baseball",
    "sci.space",
    "talk.politics.mideast",
)

# The four of scikit-learn's own example of document clustering.
SCIKIT_LEARN_GROUPS = ("alt.atheism", "comp.graphics", "sci.space", "talk.religion.misc")

# Classes and features of each table: r is the number of classes, or of features if less.
UCI_TABLES = ("glass", "diabetes", "mfeat", "isolet", *(f"mfeat-{view}" for view in VIEWS))
TABLES = {
    **{name: (len(DATASETS[name].classes), DATASETS[name].features) for name in UCI_TABLES},
    "iris": (3, 4),
    "wine": (3, 13),
    "breast-cancer": (2, 30),
    "digits": (10, 64),
}
EMBEDDED_TABLES = ("iris", "wine", "breast-cancer", "digits")

# Seconds per thousand rows and dimension, where it is not about 0.003.
_SLOW = {"k-svd": 0.03, "k-svd-2r": 0.04, "mua": 0.01, "r1-pca": 0.006, "spherical-pca": 0.006}

TOY_METHODS = ("kmeans-raw", "kmeans", "svd-unit", "spherical-pca")
TABLE_METHODS = tuple(name for name in METHODS if name != "kmeans-raw")
RANK_METHODS = ("pca", "r1-pca", "svd-unit", "spherical-pca")
LSA_METHODS = ("svd-unit", "spherical-pca")


@dataclass(frozen=True)
class Trial:
    """One method on one draw, clustered once for each repetition in `repetitions`.

    Where documents are drawn, a trial has one repetition; where only the seed of k-means
    varies, it has them all, so that the representation is computed once.  `r` is 0 for
    methods that do not reduce.
    """

    experiment: str
    dataset: str
    groups: str
    variant: str
    repetitions: tuple[int, ...]
    method: str
    r: int

    @property
    def n_groups(self) -> int:
        """The number of clusters to find."""
        return int(self.groups.split()[0])

    @property
    def expected_seconds(self) -> float:
        """Roughly what it takes on one core; only the estimate of time left uses it."""
        size = self._thousands
        if self.experiment == "lsa" and self.method == "spherical-pca":
            fitting = 5e-4 * size * self.r**2
        else:
            fitting = _SLOW.get(self.method, 0.003) * size * self.r
        clustering = size * self.n_groups * (0.002 if self.r else 0.01) * len(self.repetitions)
        return 0.02 + fitting + clustering

    @property
    def _thousands(self) -> float:
        """Rows, in thousands."""
        if self.experiment == "lsa":
            return self.n_groups
        if self.experiment == "uci":
            return {"isolet": 16.0, "mfeat": 4.0}.get(self.dataset, 1.0)
        return 0.2 * self.n_groups


@dataclass(frozen=True)
class ExperimentPlan:
    """How much of the protocol is run."""

    text: str = "20newsgroups"
    repetitions: int = 10
    toy_draws: int = 100
    groups: tuple[str, ...] = ("5 named", "5", "10", "15", "20")
    text_variants: tuple[str, ...] = ("main", "labels", "stripped")
    rank_groups: str = "5 named"
    ranks: tuple[int, ...] = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50)
    uci: tuple[str, ...] = UCI_TABLES
    uci_variants: tuple[str, ...] = ("unit", "standardised", "minmax")
    lsa_groups: tuple[str, ...] = ("20", "4")
    lsa_ranks: tuple[int, ...] = (4, 10, 20, 50, 100)
    lsa_seeds: int = 20
    solver_steps: int = 3000

    @classmethod
    def quick(cls) -> ExperimentPlan:
        """Enough to see every table and figure within minutes."""
        return cls(
            repetitions=2,
            toy_draws=20,
            groups=("5 named", "10"),
            text_variants=("main",),
            ranks=(2, 5, 10, 20),
            uci=("glass", "diabetes", "mfeat"),
            uci_variants=("unit", "minmax"),
            lsa_groups=("4",),
            lsa_ranks=(4, 20),
            lsa_seeds=5,
            solver_steps=500,
        )

    def with_repetitions(self, repetitions: int) -> ExperimentPlan:
        """The same plan with another number of draws and k-means seeds per table."""
        return replace(self, repetitions=repetitions)

    def embedded(self, groups: str) -> ExperimentPlan:
        """The same plan on data that ship with the dependencies, for want of the paper's."""
        return replace(
            self,
            text="docstrings",
            groups=(groups,),
            text_variants=tuple(v for v in self.text_variants if v != "stripped"),
            rank_groups=groups,
            uci=EMBEDDED_TABLES,
            lsa_groups=(groups,),
        )

    def trials(self, experiment: str) -> Iterator[Trial]:
        """The trials of one experiment, draw by draw."""
        parts = {
            "toy": self._toy,
            "newsgroups": self._newsgroups,
            "rank": self._rank,
            "uci": self._uci,
            "lsa": self._lsa,
        }
        return parts[experiment]()

    def _toy(self) -> Iterator[Trial]:
        for draw in range(self.toy_draws):
            for method in TOY_METHODS:
                yield Trial("toy", "toy", "2", "main", (draw,), method, _rank(method, 2))

    def _newsgroups(self) -> Iterator[Trial]:
        for groups in self.groups:
            for variant in self.text_variants:
                for draw in range(self.repetitions):
                    for method in TABLE_METHODS:
                        r = _rank(method, int(groups.split()[0]))
                        yield Trial("newsgroups", self.text, groups, variant, (draw,), method, r)

    def _rank(self) -> Iterator[Trial]:
        for draw in range(self.repetitions):
            for r in self.ranks:
                for method in RANK_METHODS:
                    yield Trial("rank", self.text, self.rank_groups, "main", (draw,), method, r)

    def _uci(self) -> Iterator[Trial]:
        seeds = tuple(range(self.repetitions))
        for dataset in self.uci:
            classes, features = TABLES[dataset]
            for variant in self.uci_variants:
                for method in TABLE_METHODS:
                    r = _rank(method, min(classes, features))
                    yield Trial("uci", dataset, str(classes), variant, seeds, method, r)

    def _lsa(self) -> Iterator[Trial]:
        seeds = tuple(range(self.lsa_seeds))
        for groups in self.lsa_groups:
            for r in self.lsa_ranks:
                for method in LSA_METHODS:
                    yield Trial("lsa", self.text, groups, "seeds", seeds, method, r)
            for draw in range(self.repetitions):
                for r in self.lsa_ranks:
                    for method in LSA_METHODS:
                        yield Trial("lsa", self.text, groups, "bootstrap", (draw,), method, r)


def _rank(method: str, r: int) -> int:
    return r if METHODS[method].reduces else 0
