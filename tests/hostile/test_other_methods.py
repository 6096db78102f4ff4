"""Methods that do two things at once, and fitted rivals on data that they have not seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import answer, hostile, n_rows
from strategies import matrices

from paper.ceiling import nmi_ceiling
from sphericalpca import KSVD, R1PCA, SphericalKMeans, SphericalPCA
from sphericalpca.evaluation import race
from sphericalpca.metrics import mean_share, recall_at_k, recall_per_query

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning"),
]

MAKERS = {
    "SphericalPCA": lambda: SphericalPCA(1, max_iter=5, random_state=0),
    "R1PCA": lambda: R1PCA(1, max_iter=5, random_state=0),
    "KSVD": lambda: KSVD(1, max_iter=5, random_state=0),
    "SphericalKMeans": lambda: SphericalKMeans(1, n_init=1, max_iter=5, random_state=0),
}
ESTIMATORS = st.sampled_from(list(MAKERS))


@hostile(40)
@given(matrices(), ESTIMATORS)
def test_fit_transform_answers_where_fit_and_transform_do(X, name):
    at_once, one_by_one = MAKERS[name](), MAKERS[name]()
    found = answer(lambda: at_once.fit_transform(X))
    expected = answer(lambda: one_by_one.fit(X).transform(X))
    assert (found is None) == (expected is None)
    if found is not None:
        assert np.isfinite(found).all()
        # A direction may be turned round, and short projections may turn with rounding.
        assert np.shape(found) == np.shape(expected) == (n_rows(X), 1)
    if name == "SphericalKMeans" and found is not None:
        labels = answer(lambda: MAKERS[name]().fit_predict(X))
        np.testing.assert_array_equal(labels, one_by_one.labels_)


@hostile(40)
@given(matrices(), matrices(), ESTIMATORS)
def test_rivals_on_data_they_have_not_seen(X, other, name):
    m = other.shape[1] if hasattr(other, "shape") else len(other[0])
    model = MAKERS[name]().fit(np.random.default_rng(0).standard_normal((20, m)))
    for data in (X, other):
        for method in ("transform", "predict", "score"):
            if hasattr(model, method):
                found = answer(lambda data=data, method=method: getattr(model, method)(data))
                assert found is None or np.isfinite(found).all()
    if hasattr(model, "inverse_transform"):
        image = answer(lambda: model.inverse_transform(X))
        assert image is None or np.isfinite(image).all()


@hostile(20)
@given(matrices(), matrices())
def test_recalls_of_anything(found, true):
    each = answer(lambda: recall_per_query(found, true), also=(ValueError,))
    assert each is None or ((each >= 0) & (each <= 1)).all()
    whole = answer(lambda: recall_at_k(found, true), also=(ValueError,))
    assert whole is None or 0 <= whole <= 1


@hostile(20)
@given(matrices())
def test_races_of_anything(X):
    laps = answer(lambda: race(X, 1, rounds=1))
    assert laps is None or all(0 <= lap.mean_cosine <= 1 + 1e-6 for lap in laps)


@hostile(20)
@given(matrices() | st.lists(st.floats()) | st.lists(st.floats(0, 1)), st.integers(-1, 5))
def test_shares_of_anything(shares, k):
    found = answer(lambda: mean_share(shares, k), also=(ValueError,))
    assert found is None or 0 <= found.low <= found.mean <= found.high <= 1


@hostile(20)
@given(st.floats(), st.lists(st.integers(-2, 60), max_size=3), st.booleans())
def test_ceilings_of_anything(accuracy, sizes, mean):
    found = answer(lambda: nmi_ceiling(accuracy, sizes, mean=mean), also=(ValueError,))
    if found is not None and not (np.isnan(found) and not mean):  # no clustering is so accurate
        assert 0 <= found <= 1 + 1e-12
