"""A folder of codes: written atomically, with a standalone decoder."""

import json
import runpy

import numpy as np
import pytest

from sphericalpca import DataError, SphericalCodec, open_rows
from sphericalpca.codec import files as room
from sphericalpca.codec.files import open_folder, write_folder
from sphericalpca.files import replacing_folder


@pytest.fixture
def written(rows, tmp_path):
    X = rows[:700].copy()
    X[3] = 0
    np.save(tmp_path / "rows.npy", X)
    codec = SphericalCodec(5, random_state=0).fit(rows)
    about = write_folder(codec, open_rows(tmp_path / "rows.npy"), tmp_path / "codes", None, None)
    assert about["zero_rows"] == 1
    assert about == json.loads((tmp_path / "codes" / "manifest.json").read_text())
    return X, codec, tmp_path / "codes"


def test_codes_are_those_of_the_codec_and_the_decoder_stands_alone(written):
    X, codec, path = written
    own, codes, table = open_folder(path)
    assert table is None
    assert own.fingerprint_ == codec.fingerprint_
    np.testing.assert_array_equal(codes[np.arange(700) != 3], codec.encode(np.delete(X, 3, 0)))
    decoder = path / "decode.py"
    text = decoder.read_text()
    assert len(text.splitlines()) <= 40
    assert "import sphericalpca" not in text
    runpy.run_path(str(decoder), run_name="__main__")
    np.testing.assert_allclose(np.load(path / "vectors.npy"), codec.decode(codes), atol=1e-6)


def test_codes_of_another_codec_are_refused(written, rows):
    _, _, path = written
    SphericalCodec(5, random_state=1).fit(rows).save(path / "codec.safetensors")
    with pytest.raises(DataError, match="were not written with the codec beside them"):
        open_folder(path)


def test_codes_that_were_exchanged_alone_are_refused(written, rows):
    path = written[2]
    np.save(path / "codes.npy", SphericalCodec(5, random_state=1).fit(rows).encode(rows[:700]))
    with pytest.raises(DataError, match="were not written with the codec beside them"):
        open_folder(path)


def test_the_decoder_says_what_is_missing(written):
    path = written[2]
    (path / "codes.npy").unlink()
    with pytest.raises(SystemExit, match=r"the last column of codes\.parquet"):
        runpy.run_path(str(path / "decode.py"), run_name="__main__")


@pytest.mark.parametrize(
    "change",
    [
        {"codes": "../rows.npy"},
        {"codes": "codes.parquet"},
        {"n_samples": 3},
        {"fingerprint": None},
        {"checksum": None},
    ],
)
def test_manifests_that_lie_are_refused(written, change):
    path = written[2]
    about = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps(about | change))
    with pytest.raises(DataError):
        open_folder(path)
    (path / "manifest.json").write_text("{")
    with pytest.raises(DataError, match="is not a complete folder of codes"):
        open_folder(path)
    (path / "manifest.json").unlink()
    with pytest.raises(FileNotFoundError, match="sphericalpca compress"):
        open_folder(path)


def npy(text):
    """A file of no numbers with that header."""
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("codes.npy", b""),
        ("codes.npy", npy("{'descr': ")),
        ("codes.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': (10**14, 5)}")),
        ("codes.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': (9999999999999, 5)}")),
        ("manifest.json", b"[" * 100_000),
        ("manifest.json", b"\xff"),
        ("manifest.json", b"null"),
    ],
)
def test_damaged_files_are_refused(written, name, content):
    (written[2] / name).write_bytes(content)
    with pytest.raises(DataError, match="is not a complete folder of codes"):
        open_folder(written[2])


@pytest.mark.parametrize("column", [["a"] * 700, [1] * 700, [{"a": 1}] * 700, [[1]] * 700])
def test_tables_without_codes_are_refused(written, column):
    arrow, path = pytest.importorskip("pyarrow"), written[2]
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"code": column}), path / "codes.parquet")
    about = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps(about | {"codes": "codes.parquet"}))
    with pytest.raises(DataError):
        open_folder(path)


def test_what_fails_leaves_the_old_folder(written, monkeypatch, tmp_path):
    X, codec, path = written
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    bad = X.copy()
    bad[600] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    rows = open_rows(tmp_path / "bad.npy")
    with pytest.raises(DataError, match="row 600"), replacing_folder(path, room.FILES) as folder:
        write_folder(codec, rows, folder, None, None)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before
    assert set(before) <= set(room.FILES)
