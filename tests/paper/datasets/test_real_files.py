"""The real files, where SPHERICALPCA_DATA_HOME names a folder that has them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from paper.datasets import DATASETS, load_newsgroups, load_uci
from paper.datasets.files import sha256_of
from paper.datasets.integrity import examine, fault
from paper.datasets.tables import LabelledTable, table_facts

# Read when the tests are collected: the fixtures of this folder clear the environment.
HOME = os.environ.get("SPHERICALPCA_DATA_HOME")

pytestmark = pytest.mark.skipif(not HOME, reason="SPHERICALPCA_DATA_HOME is not set")

MFEAT = [name for name in DATASETS if name.startswith("mfeat")]


def real(name):
    record = DATASETS[name]
    path = Path(HOME) / record.file
    if not path.exists():
        pytest.skip(f"{record.file} is not in {HOME}")
    return record, path


@pytest.mark.parametrize("name", DATASETS)
def test_sha256(name):
    record, path = real(name)
    assert sha256_of(path) == record.sha256
    if name in {"glass", "newsgroups"}:
        assert examine(record, Path(HOME))[:2] == ("present", "the reference file")


@pytest.mark.parametrize("name", ["glass", "diabetes", "mfeat", "isolet"])
def test_rows_class_sizes_and_fingerprints(name):
    record, _ = real(name)
    X, y = load_uci(name, HOME)
    assert X.shape == (record.rows, record.features)
    assert dict(zip(*np.unique(y.astype(str), return_counts=True), strict=True)) == record.classes
    assert table_facts(LabelledTable(X, y)).fingerprint == pytest.approx(
        record.fingerprint, rel=1e-9
    )
    order = np.random.default_rng(0).permutation(len(y))
    assert fault(record, LabelledTable((1 + 1e-6) * X[order], y[order])) == ""
    assert fault(record, LabelledTable(-X, y)) != ""
    assert fault(record, LabelledTable(X[:, ::-1], y)) != ""
    assert fault(record, LabelledTable(X, y[order])) != ""


def test_newsgroups():
    record, _ = real("newsgroups")
    corpus = load_newsgroups(HOME)
    assert fault(record, corpus) == ""
    assert (corpus.subset == "train").sum() == 11314
    assert (corpus.subset == "test").sum() == 7532
