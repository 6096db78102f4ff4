"""Data to try the method on: generated, bundled with the dependencies, or from files."""

from sphericalpca.datasets.bundled import load_bundled, load_docstrings
from sphericalpca.datasets.corpus import Corpus
from sphericalpca.datasets.fetching import fetch
from sphericalpca.datasets.home import get_data_home
from sphericalpca.datasets.loaders import available, load_newsgroups, load_uci
from sphericalpca.datasets.registry import DATASETS
from sphericalpca.datasets.synthetic import make_embeddings, make_toy

__all__ = [
    "DATASETS",
    "Corpus",
    "available",
    "fetch",
    "get_data_home",
    "load_bundled",
    "load_docstrings",
    "load_newsgroups",
    "load_uci",
    "make_embeddings",
    "make_toy",
]
