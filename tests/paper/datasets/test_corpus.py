"""Texts are unchanged after writing and reading, whatever their content."""

from __future__ import annotations

import dataclasses
import gzip
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paper.datasets import DATASETS
from paper.datasets.corpus import corpus_facts, read_corpus, write_corpus
from paper.datasets.integrity import examine
from sphericalpca.datasets import Corpus

characters = st.characters(exclude_categories=["Cs"])
odd = st.sampled_from(["\r\n", "\x85", "\u2028", "\x1c", "\x00", '"', "\\", "\n\n", "\xe9"])
texts = st.lists(st.one_of(st.text(characters, max_size=8), odd), max_size=4).map("".join)


def _corpus(texts, groups="ba"):
    n = len(texts)
    return Corpus.of(
        [f"g/{i}" for i in range(n)],
        [groups[i % len(groups)] for i in range(n)],
        ["train" if i < n // 2 else "test" for i in range(n)],
        texts,
    )


@given(texts=st.lists(texts, min_size=1, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_every_character_comes_back(tmp_path, same, texts):
    corpus = _corpus(texts)
    write_corpus(tmp_path / "c.jsonl.gz", corpus)
    assert same(read_corpus(tmp_path / "c.jsonl.gz"), corpus)


def test_facts_do_not_depend_on_line_ends():
    unix = corpus_facts(_corpus(["one two\nthree\n", "four"]))
    assert unix.rows == 2
    assert unix.features == 0
    assert unix.classes == {"a": 1, "b": 1}
    assert unix.fingerprint == (4,)
    assert corpus_facts(_corpus(["one two\r\nthree\r\n", "four"])) == unix
    assert corpus_facts(_corpus(["one two\rthree", "four"])) == unix


COLUMNS = {
    "ids": ["g/1", "g/2", "g/3"],
    "groups": ["a", "b", "a"],
    "subset": ["train", "test", "test"],
    "texts": ["one two", "three", ""],
}


@pytest.mark.parametrize(
    "change",
    [
        {"ids": ["g/1", "g/2", "g/4"]},
        {"groups": ["b", "a", "a"]},
        {"subset": ["test", "train", "test"]},
        {"texts": ["one tea", "three", ""]},
    ],
)
def test_the_digest_sees_what_counts_do_not_but_no_order_of_documents(change):
    before, after = (corpus_facts(Corpus.of(**{**COLUMNS, **c})) for c in ({}, change))
    assert dataclasses.replace(after, digest="") == dataclasses.replace(before, digest="")
    assert after.digest != before.digest
    turned = {name: values[::-1] for name, values in COLUMNS.items()}
    assert corpus_facts(Corpus.of(**turned)) == before


GOOD = {"id": "a/1", "group": "a", "subset": "train", "text": "t"}


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["{"], "Expecting"),
        (["[1, 2]"], "line 1 has not the texts id, group, subset, text"),
        ([json.dumps(GOOD), json.dumps({**GOOD, "text": 3})], "line 2 has not"),
        ([json.dumps(GOOD)] * 2, "same id"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, lines, reason):
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    with pytest.raises(ValueError, match=reason):
        read_corpus(path)


def test_no_documents_and_lists_without_bottom(tmp_path):
    path = tmp_path / DATASETS["newsgroups"].file
    path.write_bytes(gzip.compress(b""))
    assert corpus_facts(read_corpus(path)).rows == 0
    assert read_corpus(path).labels.dtype == np.intp
    path.write_bytes(gzip.compress(b"[" * 200_000))
    found = examine(DATASETS["newsgroups"], tmp_path)
    assert (found.state, len(found.detail) < 300) == ("damaged", True)
