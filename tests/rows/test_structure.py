"""Sparse matrices in memory: malformed ones are refused by name, stale flags are not believed."""

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import DataError, SphericalKMeans, SphericalPCA
from sphericalpca.metrics import nearest_neighbours
from sphericalpca.rows.structure import sound


@pytest.fixture
def X(rng):
    dense = rng.random((12, 6)) * (rng.random((12, 6)) < 0.5)
    dense[:, 0] += 0.1
    return sparse.csr_array(dense)


def _set(part, place, value):
    """Spoil one entry of `indices` or `indptr`."""
    return lambda X: getattr(X, part).__setitem__(place, value)


def _cut(part, count):
    """Leave out the last entries of a part."""
    return lambda X: setattr(X, part, getattr(X, part)[:-count])


FAULTS = {
    "99": (_set("indices", -1, 99), "column 99 of row 11"),
    "minus one": (_set("indices", -1, -1), "column -1 of row 11"),
    "two billion": (_set("indices", -1, 2_000_000_000), "column 2000000000 of row 11"),
    "beyond the numbers": (_set("indptr", -1, 90), "indptr of X says that row 11"),
    "falling": (_set("indptr", 3, 0), "indptr of X says that row 2"),
    "late": (_set("indptr", 0, 1), "indptr of X says that row 0"),
    "short pointer": (_cut("indptr", 2), "indptr of X has 11 entries, but must have 13"),
    "short data": (_cut("data", 3), "indptr of X says that row 11"),
}


@pytest.mark.parametrize(("spoil", "told"), FAULTS.values(), ids=FAULTS)
def test_a_malformed_matrix_is_refused_and_its_row_named(X, spoil, told):
    fitted = SphericalPCA(2).fit(X)
    spoil(X)
    others = (SphericalKMeans(2).fit, nearest_neighbours)
    for call in (SphericalPCA(2).fit, fitted.transform, fitted.score, *others):
        with pytest.raises(DataError, match=told) as caught:
            call(X)
        assert "build X again" in str(caught.value)


OTHERS = {
    "csc": (_set("indices", 0, 77), "row 77 of column 0"),
    "bsr": (_set("indices", 0, 77), "block column 77"),
    "coo": (lambda X: X.coords[1].__setitem__(3, 77), "in column 77, but there are 6"),
    "coo, few numbers": (_cut("data", 1), "row indices"),
    "dia": (_cut("offsets", 1), "malformed DIA matrix"),
    "dok": (lambda X: X._dict.update({(3, 77): 1.0}), "77"),
    "lil": (lambda X: X.rows[3].__setitem__(0, 77), "column 77 of row 3"),
    "lil, few numbers": (lambda X: X.data[3].pop(), "Row 3 of X stores"),
    "csr, fractions": (lambda X: setattr(X, "indices", X.indices + 0.5), "its indices are float"),
    "csr, a list": (lambda X: setattr(X, "indices", list(X.indices)), "malformed CSR matrix"),
    "csr, nothing": (lambda X: setattr(X, "data", None), "malformed CSR matrix"),
    "csr, two axes": (lambda X: setattr(X, "data", X.data[:, None]), "malformed CSR matrix"),
}


@pytest.mark.parametrize(("kind", "fault"), OTHERS.items(), ids=OTHERS)
def test_other_formats_and_parts_are_checked_before_they_are_converted(X, kind, fault):
    spoil, told = fault
    spoiled = X.asformat(kind[:3])
    spoil(spoiled)
    with pytest.raises(DataError, match=told) as caught:
        SphericalPCA(2).fit(spoiled)
    assert "build X again" in str(caught.value)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_sound_matrices_of_every_format_are_the_same_rows(X, kind):
    found = sound(X.asformat(kind))
    np.testing.assert_array_equal(found.toarray(), X.toarray())
    expected = SphericalPCA(2).fit(X.toarray()).mean_cosine_
    assert SphericalPCA(2).fit(X.asformat(kind)).mean_cosine_ == pytest.approx(expected, rel=1e-9)


def test_flags_that_are_older_than_the_indices_are_not_believed(X):
    assert X.has_canonical_format
    X.indices //= 2  # columns merged in place: indices repeat, and the flag stays
    dense = np.zeros(X.shape)
    np.add.at(dense, (np.repeat(np.arange(12), np.diff(X.indptr)), X.indices), X.data)
    before = X.nnz
    for method in ("fit_transform", "fit_predict"):
        model = SphericalPCA(2) if method == "fit_transform" else SphericalKMeans(2, random_state=0)
        np.testing.assert_allclose(
            getattr(model, method)(X), getattr(model, method)(dense), atol=1e-9
        )
    for metric in ("cosine", "inner", "euclidean"):
        found, expected = (nearest_neighbours(rows, k=3, metric=metric) for rows in (X, dense))
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-9)
    assert X.nnz == before


def test_complex_chunks_are_refused_whatever_their_collection_declares(rng):
    da = pytest.importorskip("dask.array")
    real = rng.standard_normal((20, 4))
    lying = da.from_array(real, chunks=(10, 4)).map_blocks(lambda block: block + 1j, dtype=float)
    with pytest.raises(DataError, match="complex"):
        SphericalPCA(2).fit(lying)
