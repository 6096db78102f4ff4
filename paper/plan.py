"""The plan: every trial of every experiment, fixed before the first fit.

A trial is one representation of one draw.  It contains names and numbers but no data, so a
plan is cheap, and the result of a trial depends only on its fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from paper.datasets.registry import DATASETS, VIEWS
from paper.methods import METHODS

__all__ = [
    "CONSTANTS",
    "EXPERIMENTS",
    "PAPER_GROUPS",
    "SCIKIT_LEARN_GROUPS",
    "ExperimentPlan",
    "Trial",
    "constants_of",
]

EXPERIMENTS = ("toy", "newsgroups", "rank", "embeddings", "starts", "constants", "uci", "lsa")

# The five groups that the paper names.
PAPER_GROUPS = (
    "comp.graphics",
    "rec.motorcycles",
    "rec.sport.baseball",
    "sci.space",
    "talk.politics.mideast",
)

# The four groups of scikit-learn's example of document clustering.
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

# Seconds per thousand rows and dimension, where it is not about a thousandth.
_SLOW = {
    "k-svd": 0.016,
    "k-svd-2r": 0.023,
    "mua": 0.0015,
    "pca": 0.002,
    "r1-pca": 0.004,
    "spherical-pca": 0.004,
    "spherical-pca-centred": 0.005,
    "spherical-pca-random": 0.003,
    "spherical-pca-best": 0.03,
    "algorithm-1": 0.08,
}

# Of k-means, per thousand rows and cluster: with ten starts on components and on all features, and
# with one start, as Table 3 has it.
_TEN_STARTS, _ALL_FEATURES, _ONE_START = 0.001, 0.008, 0.0003

Families = Sequence[tuple[str, ...]]

# Methods of one tuple share a representation and differ in its unit rows only.
TABLE_METHODS = (
    ("kmeans",),
    ("mua", "mua-unit"),
    ("pca", "pca-unit"),
    ("r1-pca", "r1-pca-unit"),
    ("k-svd", "k-svd-unit"),
    ("spherical-pca",),
    ("pca-uncentred", "svd-unit"),
    ("spherical-kmeans",),
    ("spherical-pca-centred",),
    ("k-svd-2r",),
)
TOY_METHODS = (("kmeans-raw",), ("kmeans",), ("svd-unit",), ("spherical-pca",))
RANK_METHODS = (("pca", "pca-unit"), ("r1-pca", "r1-pca-unit"), ("svd-unit",), ("spherical-pca",))
EMBEDDINGS_METHODS = (
    ("kmeans",),
    ("pca", "pca-unit"),
    ("svd-unit",),
    ("spherical-pca",),
    ("spherical-kmeans",),
)
START_METHODS = (("spherical-pca",), ("spherical-pca-random",), ("spherical-pca-best",))
LSA_METHODS = (("svd-unit",), ("spherical-pca",))

# Multiples of L_c for the constants of Algorithm 1; the theory needs more than 1.
CONSTANTS = (0.01, 0.1, 0.5, 1.01, 10.0)
DEFAULT_SOLVER = "default solver"


@dataclass(frozen=True)
class Trial:
    """One representation of one draw, clustered for each repetition in `repetitions`.

    Where documents are drawn, a trial has one repetition, and its row is the mean over
    `clusterings` seeds of k-means; where only the seed of k-means varies, it has all
    repetitions, so that the representation is computed once.  `methods` are those that
    share the representation; each gets a row.  `r` is 0 for methods that do not reduce.
    """

    experiment: str
    dataset: str
    groups: str
    variant: str
    repetitions: tuple[int, ...]
    methods: tuple[str, ...]
    r: int
    clusterings: int = 1

    @property
    def n_groups(self) -> int:
        """The number of clusters to find."""
        return int(self.groups.split()[0])

    @property
    def expected_seconds(self) -> float:
        """Approximate seconds on one core, used only to estimate the remaining time."""
        size = self._thousands
        fitting = _SLOW.get(self.methods[0], 0.001) * size * self.r
        number = len(self.repetitions) * len(self.methods) * self.clusterings
        each = _ONE_START if self.experiment == "lsa" else _TEN_STARTS if self.r else _ALL_FEATURES
        return 0.02 + fitting + size * self.n_groups * each * number

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
    """The extent of the protocol.

    `draws` of documents with `clusterings` seeds of k-means each; `seeds` of k-means where the data
    are fixed.
    """

    text: str = "20newsgroups"
    draws: int = 40
    clusterings: int = 5
    toy_draws: int = 100
    groups: tuple[str, ...] = ("5 named", "5", "10", "15", "20")
    text_variants: tuple[str, ...] = ("main", "labels", "stripped")
    rank_groups: str = "5 named"
    ranks: tuple[int, ...] = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50)
    embeddings: tuple[str, ...] = ("minilm",)
    start_groups: tuple[str, ...] = ("5 named", "20")
    constants: tuple[float, ...] = CONSTANTS
    constants_draws: int = 10
    seeds: int = 10
    uci: tuple[str, ...] = UCI_TABLES
    uci_variants: tuple[str, ...] = ("unit", "standardised", "minmax")
    lsa_groups: tuple[str, ...] = ("20", "4")
    lsa_ranks: tuple[int, ...] = (4, 10, 20, 50, 100)
    lsa_draws: int = 20
    lsa_seeds: int = 20
    solver_steps: int = 3000

    @classmethod
    def quick(cls) -> ExperimentPlan:
        """The smallest extent that fills every table and figure, within a minute."""
        return cls(
            draws=2,
            clusterings=1,
            toy_draws=20,
            groups=("5 named", "10"),
            text_variants=("main", "labels"),
            ranks=(2, 5, 10, 20),
            start_groups=("5 named",),
            constants=(0.1, 1.01),
            constants_draws=1,
            seeds=2,
            uci=("glass", "diabetes", "mfeat"),
            uci_variants=("unit", "minmax"),
            lsa_groups=("4",),
            lsa_ranks=(4, 20),
            lsa_draws=2,
            lsa_seeds=5,
            solver_steps=500,
        )

    def with_repetitions(self, repetitions: int) -> ExperimentPlan:
        """The same plan with another number of draws and k-means seeds per table."""
        few = min(repetitions, self.constants_draws)
        return replace(
            self, draws=repetitions, seeds=repetitions, lsa_draws=repetitions, constants_draws=few
        )

    def without_embeddings(self) -> ExperimentPlan:
        """The same plan without the vectors, which cannot be downloaded."""
        return replace(self, embeddings=())

    def embedded(self, groups: str) -> ExperimentPlan:
        """The same plan on data bundled with the dependencies instead of the paper's."""
        return replace(
            self.without_embeddings(),
            text="docstrings",
            groups=(groups,),
            text_variants=tuple(v for v in self.text_variants if v != "stripped"),
            rank_groups=groups,
            start_groups=(groups,),
            uci=EMBEDDED_TABLES,
            lsa_groups=(groups,),
        )

    def trials(self, experiment: str) -> Iterator[Trial]:
        """The trials of one experiment, draw by draw."""
        parts = {
            "toy": self._toy,
            "newsgroups": self._newsgroups,
            "rank": self._rank,
            "embeddings": self._embeddings,
            "starts": self._starts,
            "constants": self._constants,
            "uci": self._uci,
            "lsa": self._lsa,
        }
        return parts[experiment]()

    def _toy(self) -> Iterator[Trial]:
        for draw, methods in product(range(self.toy_draws), TOY_METHODS):
            yield Trial("toy", "toy", "2", "main", (draw,), methods, _rank(methods, 2))

    def _newsgroups(self) -> Iterator[Trial]:
        for variant in self.text_variants:
            yield from self._by_groups("newsgroups", self.groups, variant, TABLE_METHODS)

    def _embeddings(self) -> Iterator[Trial]:
        for variant in self.embeddings:
            yield from self._by_groups("embeddings", self.groups, variant, EMBEDDINGS_METHODS)

    def _starts(self) -> Iterator[Trial]:
        yield from self._by_groups("starts", self.start_groups, "main", START_METHODS)

    def _by_groups(
        self, experiment: str, lines: Sequence[str], variant: str, families: Families
    ) -> Iterator[Trial]:
        """Draws of documents from several numbers of groups, r as many as groups."""
        for groups, draw, methods in product(lines, range(self.draws), families):
            r = _rank(methods, int(groups.split()[0]))
            where = (experiment, self.text, groups, variant, (draw,))
            yield Trial(*where, methods, r, self.clusterings)

    def _rank(self) -> Iterator[Trial]:
        for draw, r, methods in product(range(self.draws), self.ranks, RANK_METHODS):
            where = ("rank", self.text, self.rank_groups, "main", (draw,))
            yield Trial(*where, methods, r, self.clusterings)

    def _constants(self) -> Iterator[Trial]:
        """Algorithm 1 with each pair of constants, and the default solver beside it."""
        pairs = [f"{lam} and {mu}" for lam, mu in product(self.constants, repeat=2)]
        text = (self.text, self.rank_groups, int(self.rank_groups.split()[0]), self.clusterings)
        for dataset, groups, r, clusterings in (("toy", "2", 2, 1), text):
            for draw, variant in product(range(self.constants_draws), [*pairs, DEFAULT_SOLVER]):
                method = "spherical-pca" if variant == DEFAULT_SOLVER else "algorithm-1"
                where = ("constants", dataset, groups, variant, (draw,))
                yield Trial(*where, (method,), r, clusterings)

    def _uci(self) -> Iterator[Trial]:
        seeds = tuple(range(self.seeds))
        for dataset, variant, methods in product(self.uci, self.uci_variants, TABLE_METHODS):
            classes, features = TABLES[dataset]
            r = _rank(methods, min(classes, features))
            yield Trial("uci", dataset, str(classes), variant, seeds, methods, r)

    def _lsa(self) -> Iterator[Trial]:
        seeds = tuple(range(self.lsa_seeds))
        for groups in self.lsa_groups:
            where = ("lsa", self.text, groups)
            for r, methods in product(self.lsa_ranks, LSA_METHODS):
                yield Trial(*where, "seeds", seeds, methods, r)
            for draw, r, methods in product(range(self.lsa_draws), self.lsa_ranks, LSA_METHODS):
                yield Trial(*where, "bootstrap", (draw,), methods, r, self.clusterings)


def constants_of(variant: str) -> dict[str, float]:
    """The multiples of L_c that a trial of "constants" names."""
    lam, mu = map(float, variant.split(" and "))
    return {"lam": lam, "mu": mu}


def _rank(methods: Sequence[str], r: int) -> int:
    return r if METHODS[methods[0]].reduces else 0
