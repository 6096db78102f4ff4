"""The map of a model, in plain numpy, is its transform; anything else is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sphericalpca import KSVD, DataError, SphericalPCA
from sphericalpca.export.unit_map import UnitMap, unit_map


def unit(Y):
    return Y / np.linalg.norm(Y, axis=1, keepdims=True)


def test_it_is_transform_and_a_linear_layer_in_float32(model, fresh, dtype):
    reducer, X = unit_map(model), fresh.astype(dtype)
    Y = (X if reducer.mean is None else X - reducer.mean) @ reducer.U
    np.testing.assert_allclose(unit(Y), model.transform(X), atol=2e-6)
    assert (reducer.n_features, reducer.n_components) == (24, len(model.components_))
    Y = fresh @ reducer.matrix.T + (0 if reducer.offset is None else reducer.offset)
    assert Y.dtype == np.float32
    np.testing.assert_allclose(unit(Y), model.transform(fresh), atol=5e-6)
    assert reducer.matrix.flags.c_contiguous


def test_the_offset_is_there_only_if_the_model_is_centred(plain_model, centred_model):
    assert unit_map(plain_model).offset is None
    assert unit_map(plain_model).centre is None
    assert np.linalg.norm(unit_map(centred_model).offset) > 0.01


def test_a_mean_beyond_float32_is_refused():
    reducer = UnitMap(np.eye(3)[:, :2], np.array([0.0, -1e300, 1.0]))
    for name in ("centre", "offset"):
        with pytest.raises(DataError, match=r"an entry of 1\.0e\+300, but the target computes"):
            getattr(reducer, name)


def test_other_and_unfitted_estimators_are_refused():
    with pytest.raises(TypeError, match="A KSVD cannot be exported"):
        unit_map(KSVD(2, max_iter=1))
    with pytest.raises(NotFittedError):
        unit_map(SphericalPCA())
