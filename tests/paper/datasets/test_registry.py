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
    assert len({record.sha256 for record in DATASETS.values()}) == len(NAMES)
    assert DATASETS["glass"].shape == "214 x 9"
    assert DATASETS["newsgroups"].shape == "18846 texts"
    addresses = {
        "zip": r"https://archive\.ics\.uci\.edu/static/public/\d+/[a-z+]+\.zip",
        "openml": r"https://www\.openml\.org/d/(37|300)",
        "scikit-learn": r"sklearn\.datasets\.fetch_20newsgroups",
    }
    for name, record in DATASETS.items():
        assert record.name == name
        assert sum(record.classes.values()) == record.rows
        assert re.fullmatch("[0-9a-f]{64}", record.sha256)
        assert record.file.endswith(".jsonl.gz" if record.is_text else ".csv.gz")
        assert record.fingerprint[-1] >= abs(record.fingerprint[0]) > 0
        assert re.fullmatch("[0-9a-f]{64}" if record.is_text else "", record.digest)
        assert all((record.what, record.origin, record.licence))
        assert re.fullmatch(addresses[record.source.kind], record.source.address)


def test_views_make_up_the_whole():
    assert list(VIEWS) == sorted(VIEWS)
    views = [DATASETS[f"mfeat-{view}"] for view in VIEWS]
    assert sum(view.features for view in views) == DATASETS["mfeat"].features
    assert {view.source for view in views} == {DATASETS["mfeat"].source}


def test_find():
    assert find("isolet") is DATASETS["isolet"]
    with pytest.raises(DataError, match=r"'mfeat_fac': did you mean 'mfeat-fac'\? There are"):
        find("mfeat_fac")
    with pytest.raises(DataError, match=r"No data set 'x': there are newsgroups, glass, .*isolet"):
        find("x")
