"""R1PCA, KSVD and SphericalKMeans on hostile data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import answer, check_orthonormal, hostile, n_rows, rounding
from strategies import matrices, weights

from sphericalpca import KSVD, R1PCA, SphericalKMeans

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning"),
]


@hostile(50)
@given(matrices(), st.integers(1, 3), st.booleans(), st.sampled_from(["median", 1e-3, 1e3]))
def test_r1pca(X, r, center, cutoff):
    model = R1PCA(r, center=center, cutoff=cutoff, max_iter=10, random_state=0)
    if answer(lambda: model.fit(X)) is None:
        assert not hasattr(model, "components_")
        return
    check_orthonormal(model.components_, rounding(model))
    assert np.isfinite(model.loss_)
    assert model.loss_ >= 0
    assert ((model.weights_ >= 0) & (model.weights_ <= 1)).all()
    V = model.transform(X)
    assert np.isfinite(V).all()
    assert np.isfinite(model.inverse_transform(V)).all()
    assert len(model.get_feature_names_out()) == r


@hostile(50)
@given(matrices(), st.integers(1, 3), st.sampled_from([None, 1, 2]))
def test_ksvd(X, atoms, nonzero):
    model = KSVD(atoms, n_nonzero_coefs=nonzero, max_iter=5, random_state=0)
    if answer(lambda: model.fit(X)) is None:
        assert not hasattr(model, "components_")
        return
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1, atol=1e-4)
    V = model.transform(X)
    assert np.isfinite(V).all()
    assert ((V != 0).sum(axis=1) <= (nonzero or atoms)).all()
    assert np.isfinite(model.inverse_transform(V)).all()


@hostile(50)
@given(st.data(), matrices(), st.integers(1, 3))
def test_spherical_kmeans(data, X, clusters):
    weight = data.draw(weights(n_rows(X)))
    model = SphericalKMeans(clusters, n_init=2, max_iter=10, random_state=0)
    if answer(lambda: model.fit(X, sample_weight=weight)) is None:
        assert not hasattr(model, "cluster_centers_")
        return
    np.testing.assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1, atol=1e-4)
    labels, distances = model.predict(X), model.transform(X)
    assert ((labels >= -1) & (labels < clusters)).all()
    assert np.isfinite(distances).all()
    assert ((distances >= 0) & (distances <= 2 + 1e-4)).all()
    assert (distances[labels < 0] == 1).all()
    score = answer(lambda: model.score(X, sample_weight=weight))
    assert score is None or (np.isfinite(score) and score <= 0)
