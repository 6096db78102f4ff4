"""Data frames of polars go in as those of pandas do."""

from __future__ import annotations

import numpy as np
import pytest

from sphericalpca import SphericalPCA

polars = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((60, 4)) * [3, 2, 1, 0.5]


def test_a_frame_is_fitted_as_its_numbers_and_keeps_the_names_of_columns(X):
    frame = polars.DataFrame(X, schema=["a", "b", "c", "d"])
    model = SphericalPCA(2).fit(frame)
    plain = SphericalPCA(2).fit(X)
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    np.testing.assert_allclose(model.components_, plain.components_, atol=1e-12)
    np.testing.assert_allclose(model.transform(frame), plain.transform(X), atol=1e-12)
    with pytest.raises(ValueError, match="column"):
        model.transform(frame.select("b", "a", "c", "d"))


def test_output_can_be_polars(X):
    pytest.importorskip("pyarrow")
    made = SphericalPCA(2).set_output(transform="polars").fit_transform(X)
    assert isinstance(made, polars.DataFrame)
    assert made.columns == ["sphericalpca0", "sphericalpca1"]
