"""Sentences follow from the numbers; the page needs nothing else and believes no name."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from sphericalpca.evaluation import Drift, Evaluation
from sphericalpca.evaluation.findings import findings
from sphericalpca.evaluation.methods import METHODS

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from sphericalpca.evaluation.page import render

N = 400
NAN = float("nan")


def made(shifts=None, *, then=0.8, now=0.8, base=0.7, optimism=0.01):
    """An evaluation with made-up recalls: each method's mean, less its shift."""
    shifts = {"pca-dot": -0.1, **(shifts or {})}
    rng = np.random.default_rng(0)
    common = rng.uniform(-0.1, 0.1, N)
    recalls = {}
    for method in METHODS:
        for key in ((16, 1, 1), (16, 10, 10), (16, 10, 20), (8, 10, 10)):
            level = base + shifts.get(method.name, 0.0) + 0.2 * (key == (16, 10, 20))
            values = level + common + rng.uniform(-0.01, 0.01, N)
            recalls[method.name, *key] = np.clip(values, 0, 1)
    cosines = np.clip(now + rng.normal(0, 0.02, 5000), 0, 1)
    cosines += now - cosines.mean()
    drift = Drift(then, now, now - 0.001, now + 0.001, 5000, cosines, 0.002, optimism)
    return Evaluation(5000, 64, 16, N, (1, 10), 10, recalls, drift, 0.9999)


def said(*args, **options):
    return "\n".join(findings(made(*args, **options)))


def test_a_tie_with_the_svd_and_a_difference_to_it_are_said():
    """A difference below half a point is a tie."""
    text = said()
    assert "SVD + unit rows ties with Spherical PCA at recall@1 and @10" in text
    assert "keeps as many neighbours" in text
    for shift, word in ((-0.05, "ahead of it"), (0.05, "behind it")):
        text = said({"svd-unit": shift})
        assert f"Spherical PCA is {word} at recall@1 and @10" in text
        assert "ties" not in text
    found = made({"svd-unit": -0.004})
    assert found.standings(10)["svd-unit"].difference.low > 0
    assert "ties" in findings(found)[1]


def test_rivals_are_sorted_by_how_they_stand():
    text = said({"random": -0.3, "truncation": 0.1})
    more = re.search(r"Spherical PCA finds more than (.*)\.", text)[1]
    less = re.search(r"Spherical PCA finds less than (.*)\.", text)[1]
    level = re.search(r"no significant difference from (.*)\.", text)[1]
    assert "random projection" in more
    assert "centred PCA, dot product" in more
    assert "first coordinates" in less
    assert "centred PCA, cosine" in level
    assert "SVD + unit rows" not in more + less + level


def test_two_stages_and_a_new_fit():
    assert "a re-ranking of the first 20 with full vectors" in said(base=0.795)
    assert "with the largest number tried" in said(base=0.5)
    assert "A second stage is not needed" in said(base=1.2)
    assert "is level with this model" in said({"model": 0.0})
    assert "refit the model" in said({"model": -0.05})
    assert "finds less" in said({"model": 0.05})


def test_no_difference_is_said_in_words():
    found = made()
    same = {key: found.recalls["refit", *key[1:]] for key in found.recalls}
    text = "\n".join(findings(replace(found, recalls=same)))
    assert "is level with this model (no measurable difference at recall@10)." in text
    assert "ties with Spherical PCA at recall@1 and @10 (no measurable difference)" in text
    assert "there is no significant difference from" in text
    assert "±" not in text


@pytest.mark.parametrize(
    ("then", "optimism", "words"),
    [
        (0.8, NAN, "no drift."),
        (
            0.9,
            0.09,
            "only a decrease of 0.0900 is expected on new rows, so these rows have drifted",
        ),
        (0.9, 0.1, "no drift beyond the decrease of about 0.1000 that is expected"),
        (0.9, NAN, "too few rows to tell drift from the decrease expected on new rows."),
        (0.7, NAN, "lie nearer"),
        (NAN, NAN, "not known at the fit"),
    ],
)
def test_drift(then, optimism, words):
    assert words in said(then=then, optimism=optimism)


class Reader(HTMLParser):
    """Tags that were left open, what is loaded, and the text."""

    VOID = frozenset({"meta", "link", "br", "img"})

    def __init__(self):
        super().__init__()
        self.open, self.loaded, self.words, self.tags = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href"):
                self.loaded.append(value)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


def test_the_page_is_whole_and_says_what_the_numbers_say():
    """It needs nothing else, and the same numbers give the same bytes."""
    found = made()
    page = render(found, model="model.safetensors", data="vectors.npy")
    assert render(found, model="model.safetensors", data="vectors.npy") == page
    reader = read(page)
    assert page.startswith("<!doctype html>")
    assert all(value.startswith(("#", "data:")) for value in reader.loaded)
    assert reader.tags.count("script") == 1  # that of the theme button
    assert not re.findall(r"url\((?!#)", page)
    assert re.search(r"default-src 'none'; script-src 'sha256-[^']+'; style-src", page)
    assert 'id="theme"' in page
    assert reader.tags.count("table") == 2
    text = " ".join(reader.words).replace("\N{NO-BREAK SPACE}", " ")
    for sentence in findings(found):
        assert sentence in text
    for method in METHODS:
        assert method.label in text
        assert f"{found.row(method.name, k=10).recall:.3f}".removeprefix("0") in text


def test_a_certificate_is_shown_with_its_kind_and_probability():
    """Models without one have no such line."""
    names = {"model": "model.safetensors", "data": "vectors.npy"}
    bound = {"gap": 1.98e-4, "kind": "probable", "probability": 1e-9, "rigorous": False}
    text = " ".join(read(render(made(), **names, certificate=bound)).words)
    assert "2.0e-04 (kind: probable, wrong with probability at most 1e-09)" in text
    bound = {"gap": 0.0, "kind": "rigorous", "probability": 0.0, "rigorous": True}
    text = " ".join(read(render(made(), **names, certificate=bound)).words)
    assert "0.0e+00 (kind: rigorous)" in text
    assert "kind:" not in " ".join(read(render(made(), **names)).words)


def test_names_are_not_believed_and_a_truncated_model_has_a_page_too():
    evil = "<script>alert(1)</script>{{ 7 * 7 }}&\"'"
    reader = read(render(made(then=NAN), model=evil, data=evil))
    assert reader.tags.count("script") == 1
    text = "".join(reader.words)
    assert text.count("<script>alert(1)</script>{{ 7 * 7 }}&\"'") >= 4
    assert "nan" not in text
