"""What is known of the data sets is consistent in itself."""

from __future__ import annotations

import re

import pytest

from paper.datasets import DATASETS
from paper.datasets.registry import VIEWS, find
from sphericalpca import DataError

NAMES = ["newsgroups", "glass", "diabetes", "mfeat", *(f"mfeat-{v}" for v in VIEWS), "isolet"]


def test_facts_fit_together():
    assert list(DATASETS) == NAMES
    assert len({record.file for record in DATASETS.values()}) == len(NAMES)
    addresses = {
        "zip": r"https://archive\.ics\.uci\.edu/static/public/\d+/[a-z+]+\.zip",
        "openml": r"https://www\.openml\.org/d/(37|300)",
        "scikit-learn": r"sklearn\.datasets\.fetch_20newsgroups",
    }
    for record in DATASETS.values():
        assert sum(record.classes.values()) == record.rows
        assert re.fullmatch(addresses[record.source.kind], record.source.address)


def test_find():
    assert find("isolet") is DATASETS["isolet"]
    with pytest.raises(DataError, match=r"'mfeat_fac': did you mean 'mfeat-fac'\? There are"):
        find("mfeat_fac")
    with pytest.raises(DataError, match=r"No data set 'x': there are newsgroups, glass, .*isolet"):
        find("x")
