"""Generated data sets, and data sets bundled with the dependencies."""

from sphericalpca.datasets.bundled import Corpus, load_bundled, load_docstrings
from sphericalpca.datasets.synthetic import make_embeddings, make_toy

__all__ = ["Corpus", "load_bundled", "load_docstrings", "make_embeddings", "make_toy"]
