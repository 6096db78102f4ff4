"""The data files of the experiments: registry, download, checks and loaders."""

from paper.datasets.fetching import fetch
from paper.datasets.home import get_data_home
from paper.datasets.loaders import available, load_newsgroups, load_uci
from paper.datasets.registry import DATASETS
from paper.datasets.vectors import has_minilm, load_minilm

__all__ = [
    "DATASETS",
    "available",
    "fetch",
    "get_data_home",
    "has_minilm",
    "load_minilm",
    "load_newsgroups",
    "load_uci",
]
