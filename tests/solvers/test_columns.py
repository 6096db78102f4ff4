"""Fits to data with many columns that no row uses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import SphericalPCA
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows

FAR = 40_000


def _spread(n: int, m: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Sparse rows, the same among many more columns, and which of these they use."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_array(sparse.random_array((n, m), density=0.1, rng=rng) + 0.0)
    X.data += 0.2
    places = np.sort(rng.choice(FAR, m, replace=False))
    wide = sparse.csr_array((X.data, places[X.indices], X.indptr), shape=(n, FAR))
    return X, wide, places


@pytest.mark.parametrize("n", [30, 400])
@pytest.mark.parametrize("solver", ["auto", "subspace", "newton", "alternating", "linearized"])
def test_unused_columns_change_nothing_but_get_zeros(n: int, solver: str) -> None:
    X, wide, places = _spread(n, 60)
    options: dict[str, Any] = {"solver": solver, "random_state": 0, "max_iter": 2000}
    options["tol"] = 5e-2 if solver == "linearized" else 1e-8
    weight = np.random.default_rng(1).random(n)
    narrow = SphericalPCA(4, **options).fit(X, sample_weight=weight)
    found = SphericalPCA(4, **options).fit(wide, sample_weight=weight)
    assert found.components_.shape == (4, FAR)
    np.testing.assert_allclose(found.components_[:, places], narrow.components_, atol=1e-9)
    assert np.count_nonzero(np.delete(found.components_, places, axis=1)) == 0
    assert found.mean_cosine_ == pytest.approx(narrow.mean_cosine_, rel=1e-12)
    assert found.svd_ratio_ == pytest.approx(narrow.svd_ratio_, rel=1e-12)
    assert found.n_passes_ == narrow.n_passes_ > 0
    problem = Problem(as_rows(wide, weight=weight))
    assert problem.evaluate(found.components_.T).residual == pytest.approx(
        found.residual_, abs=1e-9
    )


def test_fit_transform_is_that_of_all_columns() -> None:
    _, wide, _ = _spread(200, 60)
    model = SphericalPCA(3, random_state=0)
    V = model.fit_transform(wide)
    np.testing.assert_allclose(V, model.transform(wide), atol=1e-12)


def test_progress_counts_the_passes() -> None:
    _, wide, _ = _spread(300, 60)
    seen: list[Any] = []
    model = SphericalPCA(3, random_state=0).fit(wide, progress=seen.append)
    assert seen[-1].passes == model.n_passes_
    assert seen[-1].iteration == model.n_iter_


def test_fewer_used_columns_than_components_is_still_a_fit() -> None:
    X = sparse.csr_array((np.ones(50), (np.arange(50), np.arange(50) % 3)), shape=(50, 5000))
    model = SphericalPCA(5, random_state=0).fit(X)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-10)
    assert model.mean_cosine_ == pytest.approx(1.0)


def test_columns_that_are_all_used_and_centred_rows_are_left_alone() -> None:
    X, wide, places = _spread(400, 60)
    assert as_rows(X).on_used_columns() is None
    assert as_rows(wide, mean=np.ones(FAR)).on_used_columns() is None
    found = as_rows(wide).on_used_columns()
    assert found is not None
    np.testing.assert_array_equal(found[1], places)


def test_callbacks_see_all_columns() -> None:
    pytest.importorskip("sklearn.callback")
    _, wide, _ = _spread(100, 60)
    shapes = []

    class Watch:
        max_estimator_depth = None

        def on_fit_begin(self, *_: Any, **__: Any) -> None: ...
        def setup(self, *_: Any, **__: Any) -> None: ...
        def teardown(self, *_: Any, **__: Any) -> None: ...
        def on_fit_task_begin(self, *_: Any, **__: Any) -> None: ...

        def on_fit_task_end(self, *_: Any, fitted_estimator: Any, **__: Any) -> None:
            shapes.append(fitted_estimator.components_.shape)

    SphericalPCA(3, random_state=0).set_callbacks(Watch()).fit(wide)
    assert set(shapes) == {(3, FAR)}
