"""Dask collections at the estimator's door, and transforming them lazily.  No cluster."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import DataError, SphericalPCA
from sphericalpca.estimators.foreign import is_dask

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((53, 7)).astype(np.float32)


@pytest.fixture(scope="module")
def model(X):
    return SphericalPCA(3).fit(X)


@pytest.fixture
def frame(X):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=list("abcdefg"))


@pytest.fixture
def lazy_frame(frame):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


def test_dask_is_told_from_its_look_alikes(X):
    assert is_dask(da.from_array(X))
    for other in (X, sparse.csr_array(X), [[1.0]], SimpleNamespace(dask=1), None, "dask"):
        assert not is_dask(other)
    # Asking imports nothing.
    code = "import sys, sphericalpca.estimators.foreign as lazy; lazy.is_dask(3); "
    code += "assert not {'dask', 'distributed'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def by_rows(X):
    return da.from_array(X, chunks=(20, 7))


KINDS = {
    "one chunk": da.from_array,
    "rows": by_rows,
    "rows and columns": lambda X: da.from_array(X, chunks=(20, 3)),
    "csr": lambda X: by_rows(X).map_blocks(sparse.csr_array),
    "csr, columns": lambda X: da.from_array(X, chunks=(20, 3)).map_blocks(sparse.csr_array),
    "unknown": lambda X: KINDS["csr"](X)[da.ones(53, chunks=20, dtype=bool)],
    "float64": lambda X: by_rows(X.astype(np.float64)),
    "empty chunks": lambda X: da.from_array(X, chunks=((0, 30, 0, 23, 0), 7)),
}


@pytest.mark.parametrize(
    ("kind", "options"),
    [(kind, {"center": kind in ("rows", "csr", "unknown")}) for kind in KINDS]
    + [("rows", {"normalize": False})],
)
def test_transform_is_lazy_and_the_same_as_in_memory(X, kind, options):
    model = SphericalPCA(3, **options).fit(X)
    array = KINDS[kind](X)
    found = model.transform(array)
    assert type(found) is da.Array
    assert (found.chunks[0], found.chunks[1]) == (array.chunks[0], (3,)) or np.isnan(found.shape[0])
    assert found.numblocks == (array.numblocks[0], 1)
    assert found.dtype == array.dtype
    computed = found.compute(scheduler="threads")
    assert type(computed) is np.ndarray
    assert computed.dtype == array.dtype
    np.testing.assert_allclose(computed, model.transform(X), atol=2e-6)


def test_nothing_is_computed_before_it_is_asked_for(X, model):
    def refuse(block):
        raise AssertionError("computed")

    found = model.transform(by_rows(X).map_blocks(refuse, meta=X[:0]))
    with pytest.raises(AssertionError, match="computed"):
        found.compute()
    zeros = np.vstack([X[:5], np.zeros((2, 7), dtype=np.float32)])
    found = model.transform(da.from_array(zeros, chunks=(3, 7))).compute()
    np.testing.assert_array_equal(found[5:], 0, err_msg="zero rows become zero rows")


def test_fit_transform_is_lazy_too(X, model):
    found = SphericalPCA(3).fit_transform(by_rows(X))
    assert type(found) is da.Array
    np.testing.assert_allclose(found.compute(), model.transform(X), atol=1e-3)


def test_frames_keep_their_names(frame, lazy_frame):
    model = SphericalPCA(3).fit(lazy_frame)
    assert list(model.feature_names_in_) == list("abcdefg")
    np.testing.assert_allclose(
        model.transform(lazy_frame).compute(), model.transform(frame), atol=2e-6
    )
    assert model.score(lazy_frame) == pytest.approx(model.score(frame), rel=1e-6)
    with pytest.raises(DataError, match=r"(?s)feature names.*Pass the columns"):
        model.transform(lazy_frame[list("bacdefg")])
    # As the docstring says: scikit-learn makes frames of arrays in memory.
    found = model.set_output(transform="pandas").transform(lazy_frame)
    assert type(found) is type(frame)
    weighted = SphericalPCA(2).fit(lazy_frame, sample_weight=lazy_frame["a"] ** 2)
    expected = SphericalPCA(2).fit(frame, sample_weight=frame["a"] ** 2)
    assert weighted.loss_ == pytest.approx(expected.loss_, rel=1e-6)


def test_other_columns_are_refused(X, model, lazy_frame, frame):
    narrow = da.from_array(X[:, :6], chunks=(20, 6))
    for use in (model.transform, model.score, model.certify):
        with pytest.raises(
            DataError, match=r"has 6 features, but .* 7 features.* pass the columns"
        ):
            use(narrow)
    with pytest.raises(DataError, match=r"in column 7 \('label'\), but must hold real numbers"):
        SphericalPCA(2).fit(lazy_frame.assign(label="x"))
    dd = pytest.importorskip("dask.dataframe")
    same = dd.from_pandas(frame.set_axis(["a"] * frame.shape[1], axis=1), npartitions=2)
    with pytest.raises(DataError, match=r"(?s)unique column names.*a unique name"):
        SphericalPCA(2).fit(same)


@pytest.mark.parametrize(
    ("collection", "message"),
    [
        (lambda X: da.from_array(X)[:, 0], "Array of 1 dimensions"),
        (lambda X: da.from_array(X[None]), "Array of 3 dimensions"),
        (dask.delayed, "Delayed"),
        (lambda X: da.from_array(X)[:, :0], "0 columns"),
        (lambda X: da.from_array(X)[:, da.ones(7, dtype=bool)], "nan columns"),
        (lambda X: da.from_array(X + 1j), "complex64"),
        (lambda X: da.from_array(X.astype("U5")), "<U5"),
        (lambda X: da.from_array(X.astype(object), chunks=20), "object"),
    ],
)
def test_collections_that_are_no_matrix_of_numbers_are_refused(X, collection, message):
    with pytest.raises(DataError, match=message):
        SphericalPCA(2).fit(collection(X))
