"""onnxruntime computes what transform does."""

from __future__ import annotations

import numpy as np
import pytest

from sphericalpca import MissingExtraError
from sphericalpca.export import export_model, to_onnx

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")


def session(content):
    return runtime.InferenceSession(content, providers=["CPUExecutionProvider"])


def run(model, X):
    (V,) = session(to_onnx(model).SerializeToString()).run(None, {"vectors": X})
    return V


def test_it_is_transform(model, fresh, tmp_path):
    export_model(model, tmp_path / "reducer.onnx", "onnx")
    onnx.checker.check_model(str(tmp_path / "reducer.onnx"), full_check=True)
    loaded = session(str(tmp_path / "reducer.onnx"))
    (given,), (made,) = loaded.get_inputs(), loaded.get_outputs()
    assert (given.name, given.type, given.shape[1:]) == ("vectors", "tensor(float)", [24])
    assert made.name == "components"
    (V,) = loaded.run(None, {"vectors": fresh})
    assert V.dtype == np.float32
    np.testing.assert_allclose(V, model.transform(fresh), atol=5e-6)


def test_real_vectors(minilm):
    X, models = minilm
    for model in models:
        assert np.abs(run(model, X) - model.transform(X)).max() < 3e-6


def test_batches_of_any_size_and_rows_of_any_length(plain_model, centred_model, fresh):
    expected = plain_model.transform(fresh)
    for rows in (0, 1, 7):
        V = run(plain_model, fresh[:rows])
        assert V.shape == (rows, 6)
        np.testing.assert_allclose(V, expected[:rows], atol=5e-6)
    for length in (1e-30, 1e30):
        V = run(plain_model, fresh * np.float32(length))
        np.testing.assert_allclose(V, expected, atol=5e-6, err_msg=f"{length}")
    assert not run(plain_model, np.zeros((2, 24), dtype=np.float32)).any()
    assert not run(centred_model, centred_model.mean_[None]).any()


def test_without_onnx(plain_model, without):
    without("onnx")
    with pytest.raises(MissingExtraError, match=r"needs onnx,.*sphericalpca\[onnx\]"):
        to_onnx(plain_model)
