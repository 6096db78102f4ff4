"""A codec in a file: the same again, and nothing else is let in."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from sphericalpca import DataError, SphericalCodec, SphericalPCA
from tests.codec.conftest import clustered


@pytest.fixture
def saved(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(clustered(800, 6), columns=list("abcdef"))
    codec = SphericalCodec(3, random_state=0).fit(X)
    codec.save(tmp_path / "codec.safetensors")
    return X, codec, tmp_path / "codec.safetensors"


def test_what_is_loaded_is_what_was_saved(saved):
    X, codec, path = saved
    again = SphericalCodec.load(path)
    np.testing.assert_array_equal(again.encode(X), codec.encode(X))
    assert again.fingerprint_ == codec.fingerprint_
    assert again.get_params() == codec.get_params()
    assert again.distortion_ == codec.distortion_
    assert again.feature_names_in_.tolist() == list("abcdef")
    codes = codec.encode(X)
    one, other = (c.search(X, codes, 3, return_interval=True) for c in (codec, again))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def changed(path, change):
    arrays = {name: array.copy() for name, array in load_file(path).items()}
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(json.loads(raw[8 : 8 + size])["__metadata__"]["sphericalpca"])
    change(arrays, header)
    save_file(arrays, path, metadata={"sphericalpca": json.dumps(header)})


@pytest.mark.parametrize(
    "change",
    [
        lambda a, h: a.pop("levels"),
        lambda a, h: a.update(levels=a["levels"][:9]),
        lambda a, h: a.update(levels=a["levels"] * 1e9),
        lambda a, h: a.update(packing=a["packing"] + 1),
        lambda a, h: a.update(packing=a["packing"].astype(np.int32)),
        lambda a, h: a.update(packing=np.zeros_like(a["packing"])),
        lambda a, h: a.update(packing=a["packing"][::-1].copy()),
        lambda a, h: a.update(packing=a["packing"] * 1000),
        lambda a, h: a.update(bits=a["bits"][:0]),
        lambda a, h: a.update(error_quantiles=a["error_quantiles"][:0]),
        lambda a, h: a.update(components=a["components"] * 2),
        lambda a, h: a.update(components=a["components"].astype(np.int64)),
        lambda a, h: a.update(importance=-a["importance"]),
        lambda a, h: a.update(error_quantiles=a["error_quantiles"][:, :2]),
        lambda a, h: a["levels"].__setitem__((0, 0), 0.123),
        lambda a, h: h.update(fingerprint="0" * 16),
        lambda a, h: h.update(feature_names=["a"]),
        lambda a, h: h["parameters"].update(n_bytes=-3),
        lambda a, h: h["parameters"].update(random_state="x"),
        lambda a, h: h.update(parameters={"tol": 1}),
        lambda a, h: h.update(parameters=[]),
        lambda a, h: h.update(distortion={}),
        lambda a, h: h.update(distortion=float("nan")),
        lambda a, h: a.update(error_quantiles=a["error_quantiles"][:, [1, 1, 3, 2]]),
        lambda a, h: a.update(error_quantiles=a["error_quantiles"] * [-1, 1, 1, 1]),
        lambda a, h: h.update({"class": "SphericalPCA"}),
    ],
)
def test_hostile_files_are_refused(saved, change):
    path = saved[2]
    changed(path, change)
    with pytest.raises(DataError, match="is not a complete SphericalCodec file"):
        SphericalCodec.load(path)


def test_other_models_are_refused_both_ways(saved, tmp_path):
    SphericalPCA(2).fit(clustered(50, 4)).save(tmp_path / "model.safetensors")
    with pytest.raises(DataError, match="it holds a SphericalPCA"):
        SphericalCodec.load(tmp_path / "model.safetensors")
    with pytest.raises(DataError):
        SphericalPCA.load(saved[2])
