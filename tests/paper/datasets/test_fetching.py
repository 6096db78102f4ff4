"""Fetching: conversion from what the sources hold, and failures that leave nothing behind."""

from __future__ import annotations

import gc
import re
import socket
import urllib.request
import warnings
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from paper.datasets import DATASETS, fetch, load_newsgroups, load_uci
from paper.datasets.integrity import examine
from sphericalpca import DataError

MFEAT = [name for name in DATASETS if name.startswith("mfeat")]


def files(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()} if folder.exists() else {}


@pytest.fixture
def glass(tiny, uci):
    """UCI's archive of the tiny glass is on the server."""
    return uci.serve_files("glass", uci.glass(tiny["glass"]))


@pytest.mark.parametrize(
    "folder", ["", "a b/c/", "../", "/", "//host/share/", "a/../../", "C:\\\\"]
)
def test_glass(tiny, uci, home, same, folder):
    """Members are read by names that we know; others, and their folders, stay in the archive."""
    around = {f"{folder}{name}": b"x" for name in ("glass.csv.gz", "evil.txt", ".bashrc")}
    uci.serve_files("glass", around | uci.glass(tiny["glass"], folder.replace("\\", "/")))
    assert fetch("glass", home) == [("glass", home / "glass.csv.gz", True)]
    assert same(load_uci("glass", home), tiny["glass"])
    assert examine(DATASETS["glass"], home).detail == "as it was fetched"
    written = {p.relative_to(home.parent).as_posix() for p in home.parent.rglob("*") if p.is_file()}
    assert written == {"data/glass.csv.gz", "data/glass.csv.gz.sha256"}
    assert not Path("/evil.txt").exists()


def test_one_download_serves_all_views(tiny, uci, home, same):
    uci.serve_files("mfeat", uci.mfeat(tiny, "multiple features/"))
    fetch(["mfeat-mor"], home)
    assert set(files(home)) == {"mfeat_mor.csv.gz", "mfeat_mor.csv.gz.sha256"}
    fetched = fetch(MFEAT, home, force=True)
    assert [f.name for f in fetched] == MFEAT
    assert len(uci.server.requests) == 2
    for name in MFEAT:
        assert same(load_uci(name, home), tiny[name])


def _fake_openml(tiny, spell):
    """scikit-learn's fetcher, with labels spelled in its own way."""
    numbers = {37: "diabetes", 300: "isolet"}

    def fetch_openml(*, data_id, as_frame, return_X_y, parser, n_retries):
        assert (as_frame, return_X_y, parser) == (False, True, "liac-arff")
        assert socket.getdefaulttimeout() == 30.0
        warnings.warn("a network error occurred; retrying", stacklevel=1)
        X, y = tiny[numbers[data_id]]
        return X, np.array([spell(int(label)) for label in y], dtype=object)

    return fetch_openml


@pytest.mark.parametrize(
    ("name", "spell"),
    [
        ("diabetes", ["tested_negative", "tested_positive"].__getitem__),
        ("isolet", "'{}'".format),
        ("isolet", "{}.0".format),
    ],
)
def test_openml(tiny, monkeypatch, home, same, name, spell):  # noqa: PLR0917
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", _fake_openml(tiny, spell))
    fetch([name], home)
    assert same(load_uci(name, home), tiny[name])
    assert socket.getdefaulttimeout() is None


def _fake_newsgroups(corpus, separator="/"):
    """scikit-learn's fetcher: each part in a different order."""

    def fetch_20newsgroups(*, data_home, subset, shuffle, n_retries, remove=()):
        assert not Path(data_home).exists()
        assert shuffle is False
        assert remove == ()
        rows = np.flatnonzero(corpus.subset == subset)[::-1]
        names = [
            separator.join(["", "home", f"20news-bydate-{subset}", *corpus.ids[i].split("/")])
            for i in rows
        ]
        return Bunch(
            data=[corpus.texts[i] for i in rows],
            filenames=np.array(names),
            target=corpus.labels[rows],
            target_names=corpus.group_names,
        )

    return fetch_20newsgroups


@pytest.mark.parametrize("separator", ["/", "\\"])
def test_newsgroups(tiny, monkeypatch, home, same, separator):
    """Our order is by subset, group and number, as numbers: 9 before 10."""
    fake = _fake_newsgroups(tiny["newsgroups"], separator)
    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", fake)
    fetch(["newsgroups"], home)
    assert same(load_newsgroups(home), tiny["newsgroups"])


def test_scikit_learn_is_not_sent_elsewhere(monkeypatch, server, home):
    """Its fetchers would follow from https to http; the rules are ours meanwhile."""
    here = server.play("/here", ("moved", "http://example.org/there"))
    before = urllib.request._opener
    for where in ("fetch_openml", "fetch_20newsgroups"):
        monkeypatch.setattr(sklearn.datasets, where, lambda **_: urllib.request.urlopen(here))
    for name in ("diabetes", "newsgroups"):
        with pytest.raises(DataError, match=r"http://example\.org/there is not https"):
            fetch([name], home, tries=1)
        assert urllib.request._opener is before
    gc.collect()  # a connection that was left open would be told of now


def test_sound_files_are_left_alone_and_damaged_ones_fetched_again(tiny, glass, server, home, same):
    seen = []
    fetched = fetch(["glass", "glass"], home, progress=lambda *now: seen.append(now))
    assert len(fetched) == len(server.requests) == 1
    size = len(server.script["/glass.zip"][0])
    assert (seen[0], seen[-1]) == (("glass", 0, None), ("glass", size, size))
    before = files(home)
    assert fetch(["glass"], home) == [("glass", home / "glass.csv.gz", False)]
    assert files(home) == before
    assert len(server.requests) == 1
    assert fetch(["glass"], home, force=True)[0].fresh
    (home / "glass.csv.gz").write_bytes(b"rubbish")
    assert fetch(["glass"], home)[0].fresh
    assert len(server.requests) == 3
    assert same(load_uci("glass", home), tiny["glass"])


def _says(caught, *parts):
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert str(part) in message


@pytest.mark.parametrize("name", ["glass", "diabetes", "newsgroups"])
def test_offline(tiny, uci, monkeypatch, home, naps, name):  # noqa: PLR0917
    def fail(**_):
        raise URLError(OSError(-3, "Service Unavailable"))

    uci.serve("glass", 503)
    for fetcher in ("fetch_openml", "fetch_20newsgroups"):
        monkeypatch.setattr(sklearn.datasets, fetcher, fail)
    with pytest.raises(DataError) as caught:
        fetch([name], home, sleep=naps)
    _says(caught, f"Could not fetch {name} from {DATASETS[name].source.address}")
    _says(caught, "Service Unavailable, after 3 tries")
    _says(caught, DATASETS[name].file, home, "--data-home DIR", "SPHERICALPCA_DATA_HOME")
    assert naps == [1.0, 2.0]
    assert files(home) == {}
    assert socket.getdefaulttimeout() is None


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"readme": "nothing"}, "no glass.data"),
        ({"glass.data": ""}, "glass.data is empty"),
        ({"glass.data": "1,2,3.5\n"}, "label is not an integer"),
        ({"glass.data": "<html>"}, "could not convert"),
        ({"glass.data": "1,2,3\n"}, "1 rows and 1 features, not 9 and 4"),
    ],
)
def test_other_content_leaves_all_as_it_was(tiny, uci, home, members, reason):
    home.mkdir()
    (home / "glass.csv.gz").write_bytes(b"what was there before")
    before = files(home)
    url = uci.serve_files("glass", members)
    with pytest.raises(DataError, match=re.escape(reason)) as caught:
        fetch(["glass"], home)
    _says(caught, url, "nothing was written", "glass.csv.gz", home)
    assert files(home) == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: b"<!DOCTYPE html><title>Down for maintenance</title>",
        lambda raw: raw[: len(raw) // 2],
        lambda raw: raw[:60] + bytes([raw[60] ^ 0xFF]) + raw[61:],
    ],
)
def test_a_broken_archive(tiny, uci, home, damage):
    members = {"glass.data": uci.glass(tiny["glass"])["glass.data"]}
    uci.serve("glass", damage(uci.zip(members)))
    with pytest.raises(DataError, match="not a sound zip archive"):
        fetch(["glass"], home)
    assert files(home) == {}


def test_members_that_unpack_to_more_than_any_data_set(uci, home):
    bomb = uci.zip({"glass.data": b"0" * (64 << 20) + b"1"})
    assert len(bomb) < 1 << 20
    uci.serve("glass", bomb)
    with pytest.raises(DataError, match=r"glass\.data would unpack to 67108865 bytes"):
        fetch(["glass"], home)


def test_one_bad_view_and_none_is_written(tiny, uci, home):
    members = uci.mfeat(tiny)
    uci.serve_files("mfeat", {**members, "mfeat-pix": members["mfeat-kar"]})
    with pytest.raises(DataError, match="mfeat-pix: 6 rows and 4 features, not 6 and 6"):
        fetch(["mfeat-fac", "mfeat-pix"], home)
    uci.serve_files("mfeat", {name: 2 * text for name, text in members.items()})
    with pytest.raises(DataError, match="12 rows, not 6"):
        fetch(["mfeat-fac"], home)
    assert files(home) == {}


def test_a_folder_that_cannot_be_made_a_full_disk_and_an_interrupt(glass, home, monkeypatch):
    def interrupt(name, received, total):
        if received:
            raise KeyboardInterrupt

    def full(self, target):
        raise OSError(28, "No space left on device", str(self))

    with pytest.raises(KeyboardInterrupt):
        fetch(["glass"], home, progress=interrupt)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DataError, match=r"Could not fetch glass into .*No space left on device"):
        fetch(["glass"], home)
    assert files(home) == {}
    (home.parent / "file").touch()
    with pytest.raises(DataError) as caught:
        fetch(["glass"], home.parent / "file" / "data")
    _says(
        caught, "Cannot write to the data home", home.parent, "Not a directory", "--data-home DIR"
    )
