"""Files are written atomically, with a checksum beside them."""

from __future__ import annotations

import gzip
import hashlib

import pytest

from paper.datasets.files import noted_sha256, sha256_of, write_gzip


def _fail_after(lines):
    yield from lines
    raise KeyboardInterrupt


def test_lines_are_read_back_and_equal_contents_give_equal_bytes(tmp_path):
    for name in ("a.gz", "b.gz"):
        write_gzip(tmp_path / name, iter(["one", "zwölf", ""]))
    raw = (tmp_path / "a.gz").read_bytes()
    assert gzip.decompress(raw).decode() == "one\nzwölf\n\n"
    assert raw == (tmp_path / "b.gz").read_bytes()
    assert raw[4:8] == bytes(4), "the date in the header"


def test_the_note_is_that_of_sha256sum(tmp_path):
    path = tmp_path / "a.gz"
    assert noted_sha256(path) is None
    (tmp_path / "a.gz.sha256").touch()
    assert noted_sha256(path) == ""
    write_gzip(path, iter(["text"]))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert noted_sha256(path) == sha256_of(path) == digest
    assert (tmp_path / "a.gz.sha256").read_text() == f"{digest}  a.gz\n"


def test_an_interrupted_write_leaves_all_as_it_was(tmp_path):
    path = tmp_path / "a.gz"
    with pytest.raises(KeyboardInterrupt):
        write_gzip(path, _fail_after(["text"] * 1000))
    assert list(tmp_path.iterdir()) == []
    write_gzip(path, iter(["old"]))
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert set(before) == {"a.gz", "a.gz.sha256"}
    with pytest.raises(KeyboardInterrupt):
        write_gzip(path, _fail_after(["new"]))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
