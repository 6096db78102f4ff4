"""Every method of SphericalPCA on hostile data: a correct answer or a documented error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import (
    answer,
    check_orthonormal,
    check_spherical,
    check_unit_or_zero,
    hostile,
    n_rows,
    rounding,
    unit_rows,
)
from strategies import LAYOUTS, SHAPES, as_type, held, matrices, numbers, weights

from sphericalpca import SphericalPCA, open_rows
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Linearized
from sphericalpca.transforming import transform_blocks

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning"),
]

OPTIONS = st.fixed_dictionaries(
    {
        "n_components": st.sampled_from([1, 1, 2, 3, 0.9, 0.5]),
        "solver": st.sampled_from([*SOLVERS, "auto", Linearized("block", "block")]),
        "init": st.sampled_from(["auto", "auto", "random"]),
        "normalize": st.sampled_from([True, True, True, False]),
        "center": st.sampled_from([False, False, True]),
        "tol": st.sampled_from([0.0, 1e-4, 1e-12]),
        "max_iter": st.sampled_from([1, 3, 20]),
        "random_state": st.just(0),
    }
)


@hostile(120)
@given(st.data(), matrices(), OPTIONS)
def test_fit(data, X, options):
    weight = data.draw(weights(n_rows(X)))
    model = SphericalPCA(**options)
    if answer(lambda: model.fit(X, sample_weight=weight)) is None:
        assert not hasattr(model, "components_")
        return
    check_spherical(model)
    V = answer(lambda: model.transform(X))
    if V is not None:  # a row of weight zero may be longer than sums allow
        check_unit_or_zero(V, rounding(model))
        image = model.inverse_transform(V)
        assert np.isfinite(image).all()
    score = answer(lambda: model.score(X, sample_weight=weight))
    assert score is None or score == pytest.approx(model.mean_cosine_, abs=10 * rounding(model))


@hostile(60)
@given(matrices(bad=False), st.sampled_from([*SOLVERS]), st.integers(1, 3))
def test_fit_is_right(X, solver, r):
    """Against plain numpy: the mean cosine is that of the subspace, and not below the SVD's."""
    model = SphericalPCA(r, solver=solver, max_iter=10, random_state=0)
    if answer(lambda: model.fit(X)) is None:
        return
    Z = unit_rows(X)
    Z = Z[Z.any(axis=1)]
    atol = 20 * rounding(model)

    def mean_cosine(C):
        return np.linalg.norm(Z @ C.T, axis=1).mean()

    assert mean_cosine(model.components_.astype(float)) == pytest.approx(
        model.mean_cosine_, abs=atol
    )
    assert model.svd_ratio_ <= 1 + atol or solver == "linearized"
    _, s, Vt = np.linalg.svd(Z, full_matrices=False)
    s = np.append(s, 0.0)
    if solver != "linearized" and len(s) > r and s[r - 1] - s[r] > 1e-3 * s[0]:
        assert model.mean_cosine_ >= mean_cosine(Vt[:r]) - atol


@hostile(60)
@given(numbers(bad=False), st.sampled_from(["f4", "f8"]), LAYOUTS, st.booleans())
def test_the_layout_does_not_matter(A, dtype, layout, center):
    """The same numbers in another layout have the same components, up to rounding."""
    A = as_type(A, dtype)
    model = SphericalPCA(1, max_iter=3, center=center, random_state=0)
    if answer(lambda: model.fit(A)) is None:
        return
    expected = answer(lambda: model.transform(A))
    found = answer(lambda: model.transform(held(A, layout)))
    assert (found is None) == (expected is None)
    if found is not None and not center:
        sure = np.abs(unit_rows(A) @ model.components_.T.astype(float))[:, 0] > 1e-3
        np.testing.assert_allclose(found[sure], expected[sure], atol=10 * rounding(model))


@hostile(60)
@given(matrices(), matrices(), st.booleans(), st.booleans())
def test_methods_of_a_fitted_model_on_other_data(X, other, normalize, center):
    """Data of another shape are refused, of another type or magnitude they are not."""
    rng = np.random.default_rng(0)
    m = other.shape[1] if hasattr(other, "shape") else len(other[0])
    model = SphericalPCA(1, normalize=normalize, center=center).fit(rng.standard_normal((20, m)))
    for data in (X, other):
        V = answer(lambda data=data: model.transform(data))
        if V is not None:
            check_unit_or_zero(V, rounding(model))
        score = answer(lambda data=data: model.score(data))
        assert score is None or 0 <= score <= 1 + 1e-3
        found = answer(lambda data=data: model.certify(data))
        if found is not None:
            assert np.isfinite([found.value, found.bound, found.gap]).all()
            assert found.gap >= 0


@hostile(40)
@given(st.data(), st.lists(matrices(), min_size=1, max_size=3), st.integers(1, 2))
def test_partial_fit(data, batches, r):
    model = SphericalPCA(r, random_state=0)
    fitted = False
    for X in batches:
        weight = data.draw(weights(n_rows(X)))
        fitted |= answer(lambda X=X, w=weight: model.partial_fit(X, sample_weight=w)) is not None
    assert hasattr(model, "components_") == fitted
    if fitted:
        check_orthonormal(model.components_, rounding(model))
        seen = model.solver_.weight > 0  # else there is nothing to take the mean of
        assert not seen or 0 <= model.mean_cosine_ <= 1 + rounding(model)


@hostile(40)
@given(matrices())
def test_inverse_transform_of_anything(V):
    model = SphericalPCA(2).fit(np.random.default_rng(0).standard_normal((9, 5)))
    image = answer(lambda: model.inverse_transform(V))
    assert image is None or np.isfinite(image).all()


@hostile(40)
@given(matrices(bad=False), OPTIONS)
def test_a_saved_model_is_the_same(tmp_path_factory, X, options):
    model = SphericalPCA(**options)
    if answer(lambda: model.fit(X)) is None:
        return
    path = tmp_path_factory.getbasetemp() / "hostile.safetensors"
    model.save(path)
    loaded = SphericalPCA.load(path)
    expected = answer(lambda: model.transform(X))
    found = answer(lambda: loaded.transform(X))
    assert (found is None) == (expected is None)
    if found is not None:
        np.testing.assert_array_equal(found, expected)
    for r in range(1, model.n_components_ + 1):
        check_orthonormal(loaded.truncate(r).components_, rounding(model))
    assert list(loaded.get_feature_names_out()) == list(model.get_feature_names_out())


@hostile(60)
@given(numbers(), st.sampled_from(["f2", "f4", "f8", ">f8", "i2", "u8", "?"]), st.booleans())
def test_rows_in_a_file_are_those_in_memory(tmp_path_factory, A, dtype, fortran):
    A = np.asarray(as_type(A, dtype), order="F" if fortran else "C")
    path = tmp_path_factory.getbasetemp() / "hostile.npy"
    np.save(path, A)
    ours, theirs = (SphericalPCA(1, max_iter=5, random_state=0) for _ in range(2))
    found = answer(lambda: ours.fit(open_rows(path)))
    expected = answer(lambda: theirs.fit(A))
    assert (found is None) == (expected is None)
    if found is not None:
        check_spherical(ours)
        atol = 20 * max(rounding(ours), rounding(theirs))
        assert ours.mean_cosine_ == pytest.approx(theirs.mean_cosine_, abs=atol)
        V = np.concatenate(list(transform_blocks(ours, open_rows(path))))
        np.testing.assert_array_equal(V, ours.transform(open_rows(path)))


@hostile(20)
@given(st.data(), SHAPES)
def test_given_starts(data, shape):
    """A start U is used if it spans r directions, and refused if not."""
    X = data.draw(numbers(st.just(shape), bad=False))
    r = data.draw(st.integers(1, 2))
    U = data.draw(st.one_of(matrices(st.just((shape[1], r))), matrices()))
    model = SphericalPCA(r, init=U, max_iter=5, random_state=0)
    if answer(lambda: model.fit(X)) is not None:
        check_spherical(model)
