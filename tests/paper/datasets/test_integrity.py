"""Verification of files by their bytes, their checksum file, or their content."""

from __future__ import annotations

import dataclasses
import gzip

import numpy as np
import pytest

from paper.datasets import DATASETS, load_newsgroups, load_uci
from paper.datasets.files import sha256_of
from paper.datasets.integrity import examine, fault, write_content
from paper.datasets.tables import LabelledTable, table_facts
from sphericalpca import DataError

TABLES = [name for name in DATASETS if name != "newsgroups"]


@pytest.fixture
def stored(tiny, home):
    """All tiny data sets on disk, as after a fetch."""
    home.mkdir()
    for name, content in tiny.items():
        write_content(DATASETS[name], home, content)
    return home


def _note(path):
    return path.with_name(path.name + ".sha256")


def test_contents_are_loaded(tiny, stored, same, monkeypatch):
    for name in TABLES:
        X, y = load_uci(name, stored)
        assert same(LabelledTable(X, y), tiny[name])
        assert X.flags.c_contiguous
        assert (X.dtype, y.dtype) == (np.float64, np.int64)
    assert same(load_newsgroups(stored), tiny["newsgroups"])
    monkeypatch.setenv("SPHERICALPCA_DATA_HOME", str(stored))
    assert len(load_newsgroups()) == 5
    assert len(load_uci("glass").X) == 9
    with pytest.raises(DataError, match="'newsgroups' holds texts, not a table: load one of glass"):
        load_uci("newsgroups", stored)


@pytest.mark.parametrize("name", ["glass", "newsgroups", "mfeat-pix"])
def test_states_of_a_sound_file(stored, name):
    record = DATASETS[name]
    path = stored / record.file
    assert examine(record, stored) == ("present", "as it was fetched", path.stat().st_size)
    known = dataclasses.replace(record, sha256=sha256_of(path))
    assert examine(known, stored).detail == "the reference file"
    _note(path).unlink()
    assert examine(known, stored).state == "present"
    assert examine(record, stored)[:2] == ("present", "other bytes, same content by its facts")
    path.unlink()
    assert examine(record, stored) == ("absent", "", None)


DAMAGE = {
    "truncated": lambda raw: raw[: len(raw) // 2],
    "one byte": lambda raw: raw[:40] + bytes([raw[40] ^ 0xFF]) + raw[41:],
    "empty": lambda raw: b"",
    "not gzip": gzip.decompress,
    "last row missing": lambda raw: gzip.compress(
        b"\n".join(gzip.decompress(raw).split(b"\n")[:-2]) + b"\n"
    ),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_found_and_the_remedy_named(stored, damage):
    for name in ("glass", "newsgroups"):
        record = DATASETS[name]
        path = stored / record.file
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(DataError) as caught:
            load_newsgroups(stored) if record.is_text else load_uci(name, stored)
        message = str(caught.value)
        assert "\n" not in message
        assert f"{path}" in message
        assert f"python -m paper datasets fetch {name} --force --data-home {stored}" in message
        assert examine(record, stored).state == "damaged"
        _note(path).unlink()
        without_note = examine(record, stored)
        assert without_note.state == "damaged"
        assert f"({without_note.detail})" in message


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda X, y: (X[1:], y[1:]), "8 rows and 4 features, not 9 and 4"),
        (lambda X, y: (X, np.where(y == 7, 6, y)), "2 rows of class 6, not 0"),
        (lambda X, y: (X, y[[3, 1, 2, 0, *range(4, 9)]]), "other values"),
    ],
)
def test_the_content_is_compared_with_the_facts(tiny, change, reason):
    record, table = DATASETS["glass"], tiny["glass"]
    assert fault(record, table) == ""
    assert reason in fault(record, LabelledTable(*change(*table)))
    assert reason in fault(record, LabelledTable(*change(*table)), fetched=True)


def test_rounding_and_order_are_forgiven_but_no_exchange_in_a_large_table(rng):
    """Of many digits, with a signed sum that nearly cancels."""
    X, y = rng.standard_normal((400, 30)), rng.integers(1, 5, 400)
    X -= X.mean(axis=0)
    facts = dataclasses.asdict(table_facts(LabelledTable(X, y)))
    assert abs(facts["fingerprint"][0]) < 0.02 * facts["fingerprint"][1]
    record = dataclasses.replace(DATASETS["isolet"], **facts)
    order, columns = rng.permutation(len(y)), np.arange(30)
    rounded = np.vectorize(lambda value: float(f"{value:.5g}"))(X)
    assert fault(record, LabelledTable(rounded[order], y[order])) == ""
    columns[[11, 12]] = columns[[12, 11]]
    for other in [((1 + 2e-5) * X, y), (X[:, columns], y), (-X, y), (X, y[order])]:
        assert "other values" in fault(record, LabelledTable(*other))


def test_one_other_word_is_noticed_unless_it_was_fetched(tiny, stored):
    record, corpus = DATASETS["newsgroups"], tiny["newsgroups"]
    longer = dataclasses.replace(corpus, texts=[*corpus.texts[:-1], "one more"])
    assert fault(record, longer, fetched=True) == "right in size, but other words"
    texts = [text.replace("hot", "hat") for text in corpus.texts]
    other = dataclasses.replace(corpus, texts=texts)
    assert fault(record, other) == "right in size, but other words"
    assert fault(record, other, fetched=True) == ""
    path = write_content(record, stored, other)
    assert examine(record, stored).detail == "as it was fetched"
    assert load_newsgroups(stored).texts == texts
    _note(path).unlink()
    assert examine(record, stored)[:2] == ("damaged", "right in size, but other words")
    with pytest.raises(DataError, match="other words"):
        load_newsgroups(stored)


def test_files_that_are_missing_or_folders(stored):
    path = stored / "glass.csv.gz"
    path.unlink()
    with pytest.raises(DataError, match=r"No file glass.csv.gz in .*fetch glass"):
        load_uci("glass", stored)
    with pytest.raises(DataError, match="did you mean 'glass'"):
        load_uci("glas", stored)
    path.mkdir()
    state, detail, _ = examine(DATASETS["glass"], stored)
    assert (state, detail) == ("damaged", "cannot be read: Is a directory")
    with pytest.raises(IsADirectoryError):
        load_uci("glass", stored)
