"""The matrix in a file, and the line in it that says how to use it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sphericalpca import DataError
from sphericalpca.export import export_model
from sphericalpca.export.unit_map import matrix_record


def applied(line, X, U, mean):
    """Run the line that a file holds."""
    names = {"np": np, "X": X, "U": U, "mean": mean}
    exec(line, names)
    return names["V"]


def test_npz(model, fresh, dtype, tmp_path):
    export_model(model, tmp_path / "reducer.npz", "npz")
    with np.load(tmp_path / "reducer.npz", allow_pickle=False) as content:
        parts = {name: content[name] for name in content.files}
    assert bool(parts["normalise"])
    assert parts["U"].dtype == dtype
    np.testing.assert_array_equal(parts["U"], model.components_.T)
    V = applied(str(parts["apply"]), fresh.astype(dtype), parts["U"], parts.get("mean"))
    np.testing.assert_allclose(V, model.transform(fresh.astype(dtype)), atol=2e-6)


def test_json(model, fresh, dtype, tmp_path):
    export_model(model, tmp_path / "reducer.json", "json")
    record = json.loads((tmp_path / "reducer.json").read_bytes())
    assert record == matrix_record(model)
    assert record["normalise"] is True
    assert record["dtype"] == np.dtype(dtype).name
    U = np.array(record["U"], dtype=record["dtype"])
    np.testing.assert_array_equal(U, model.components_.T)
    assert U.shape == (record["n_features"], record["n_components"])
    mean = None if record["mean"] is None else np.array(record["mean"], dtype=record["dtype"])
    V = applied(record["apply"], fresh.astype(dtype), U, mean)
    np.testing.assert_allclose(V, model.transform(fresh.astype(dtype)), atol=2e-6)


def test_npy_has_the_matrix_and_no_place_for_a_mean(plain_model, centred_model, fresh, tmp_path):
    with pytest.raises(DataError, match="export it to npz or json"):
        export_model(centred_model, tmp_path / "U.npy", "npy")
    assert not list(tmp_path.iterdir())
    export_model(plain_model, tmp_path / "U.npy", "npy")
    Y = fresh @ np.load(tmp_path / "U.npy", allow_pickle=False)
    V = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    np.testing.assert_allclose(V, plain_model.transform(fresh), atol=2e-6)


def test_very_short_long_and_zero_rows(plain_model, fresh):
    record = matrix_record(plain_model)
    U = np.array(record["U"], dtype=np.float32)
    for length in (1e-30, 1e30):
        V = applied(record["apply"], fresh.astype(np.float32) * np.float32(length), U, None)
        np.testing.assert_allclose(V, plain_model.transform(fresh), atol=2e-6)
    assert not applied(record["apply"], np.zeros((2, 24)), U, None).any()
