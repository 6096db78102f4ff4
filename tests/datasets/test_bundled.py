"""Data that need no files: tables of scikit-learn, and docstrings as texts."""

from __future__ import annotations

import hashlib
import importlib
import os
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from sphericalpca import DataError
from sphericalpca.datasets import load_bundled, load_docstrings
from sphericalpca.datasets.bundled import BUNDLED, DOCSTRING_GROUPS


@pytest.fixture(scope="module")
def docstrings():
    return load_docstrings()


def test_tables():
    sizes = [((150, 4), 3), ((178, 13), 3), ((569, 30), 2), ((1797, 64), 10)]
    assert list(BUNDLED) == ["iris", "wine", "breast-cancer", "digits"]
    for name, expected in zip(BUNDLED, sizes, strict=True):
        X, y = load_bundled(name)
        assert (X.shape, len(np.unique(y))) == expected
        assert (X.dtype, y.dtype) == (np.float64, np.int64)
    with pytest.raises(DataError, match="No bundled data set 'glass': choose from iris, wine"):
        load_bundled("glass")


def test_documents_are_many_long_different_docstrings(docstrings):
    sizes = np.bincount(docstrings.labels)
    assert docstrings.group_names == sorted(DOCSTRING_GROUPS)
    assert len(sizes) >= 5
    assert sizes.min() >= 60
    assert min(map(len, docstrings.texts)) >= 200
    assert len(set(docstrings.texts)) == len(docstrings)
    assert set(docstrings.subset) == {"all"}
    assert list(docstrings.ids) == sorted(set(docstrings.ids))
    for i in range(0, len(docstrings), 50):
        module, _, name = docstrings.ids[i].rpartition(".")
        assert not name.startswith("_")
        assert getattr(importlib.import_module(module), name).__doc__ == docstrings.texts[i]
        assert module in DOCSTRING_GROUPS[docstrings.group_names[docstrings.labels[i]]]


def test_nothing_in_them_changes_from_run_to_run(docstrings):
    code = "import hashlib, sphericalpca.datasets as d; c = d.load_docstrings()\n"
    code += "print(hashlib.sha256('\\0'.join([*c.ids, *c.texts]).encode()).hexdigest())"
    command = [sys.executable, "-W", "error", "-c", code]
    surroundings = {**os.environ, "PYTHONHASHSEED": "1"}  # here it is another one
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=surroundings)
    here = hashlib.sha256("\0".join([*docstrings.ids, *docstrings.texts]).encode()).hexdigest()
    assert done.stdout.strip() == here
    assert done.stderr == ""


def test_groups_can_be_told_apart_but_not_perfectly(docstrings):
    X = TfidfVectorizer(stop_words="english", min_df=2, max_features=500)
    X = X.fit_transform(docstrings.texts)
    found = KMeans(len(docstrings.group_names), n_init=2, random_state=0).fit_predict(X)
    assert 0.2 < adjusted_rand_score(docstrings.labels, found) < 0.95


def test_deprecated_and_hidden_names_are_left_out(monkeypatch):
    """No warning reaches the user, whatever modules do when an attribute is looked up."""

    class Module:
        __name__ = "module"
        __all__ = ("kept", "old", "hidden", "gone", "short", "number", "_private")
        number = 3

        @staticmethod
        def kept():
            pass

        @staticmethod
        def short():
            """Too short."""

        @staticmethod
        def other():
            pass

        _private = other

        def __getattr__(self, name):
            if name == "old":
                warnings.warn("deprecated", DeprecationWarning, stacklevel=2)
                return Module.other
            raise ImportError("experimental") if name == "hidden" else AttributeError(name)

    Module.kept.__doc__, Module.other.__doc__ = "long " * 50, "other " * 50
    monkeypatch.setattr("sphericalpca.datasets.bundled.DOCSTRING_GROUPS", {"topic": ("module",)})
    monkeypatch.setitem(sys.modules, "module", Module())
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        assert load_docstrings().ids.tolist() == ["module.kept"]
    assert shown == []


def test_without_docstrings(monkeypatch):
    flags = SimpleNamespace(flags=SimpleNamespace(optimize=2))
    monkeypatch.setattr("sphericalpca.datasets.bundled.sys", flags)
    with pytest.raises(DataError, match="without docstrings: run it without the option -OO"):
        load_docstrings()
