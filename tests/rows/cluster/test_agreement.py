"""The same data in Dask and in memory: the same answer, with a cluster and without one."""

import time

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import DataError, NoDirectionWarning, SphericalPCA, certificate
from sphericalpca.problem import Problem
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import DoubleRows, as_rows
from sphericalpca.rows.cluster import DaskSource, from_dask

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(params=["here", "workers"])
def _anywhere(request):
    if request.param == "workers":
        request.getfixturevalue("two_workers")


def _unknown(array):
    """The same array, of which Dask does not know how many rows each chunk has."""
    keep = da.ones(array.shape[0], chunks=(array.chunks[0],), dtype=bool)
    lost = array[keep]
    assert np.isnan(lost.shape[0])
    return lost


def _in_chunks(*chunks):
    return lambda X: da.from_array(X, chunks=chunks)


DENSE = {
    "one chunk": _in_chunks(1203, 30),
    "a hundred rows each": _in_chunks(100, 30),
    "several columns of chunks": _in_chunks(350, 7),
    "many": _in_chunks(40, 30),
    "empty ones": _in_chunks((0, 600, 0, 603), 30),
    "unknown heights": lambda X: _unknown(_in_chunks(250, 30)(X)),
}


@pytest.mark.usefixtures("_anywhere")
@pytest.mark.parametrize("chunks", DENSE)
def test_dense_chunks(X, chunks, same_fit):
    same_fit(DENSE[chunks](X), X)


def _doubled(block):
    parts = sparse.csr_array(block)
    indptr, indices = 2 * parts.indptr, np.repeat(parts.indices, 2)
    return sparse.csr_array((np.repeat(parts.data / 2, 2), indices, indptr), parts.shape)


SPARSE = {
    "csr": lambda array: array.map_blocks(sparse.csr_array),
    "csr matrix": lambda array: array.map_blocks(sparse.csr_matrix),
    "csc": lambda array: array.map_blocks(sparse.csc_array),
    "repeated indices": lambda array: array.map_blocks(_doubled),
    "columns of chunks of unknown heights": lambda array: (
        _unknown(array).rechunk({1: 25}).map_blocks(sparse.csr_array)
    ),
}


@pytest.mark.usefixtures("_anywhere")
@pytest.mark.parametrize("chunks", SPARSE)
def test_sparse_chunks(text, chunks, same_fit):
    with pytest.warns(NoDirectionWarning, match="1 of 900"):
        same_fit(SPARSE[chunks](da.from_array(text.toarray(), chunks=(250, 60))), text)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int16"])
def test_types_are_those_of_memory(X, dtype, same_fit, two_workers):
    values = (10 * X).astype(dtype)
    same_fit(da.from_array(values, chunks=(400, 30)), values)


@pytest.mark.usefixtures("_anywhere")
@pytest.mark.parametrize(("normalize", "center"), [(True, True), (True, False), (False, True)])
def test_options_and_weights(X, weight, normalize, center, same_fit):
    options = {"weight": weight, "normalize": normalize, "center": center}
    array = da.from_array(X, chunks=(260, 30))
    same_fit(array, X, lazy_weight=weight, **options)
    same_fit(array, X, lazy_weight=da.from_array(weight, chunks=500), **options)


@pytest.mark.usefixtures("_anywhere")
def test_centred_sparse_chunks(text, same_fit):
    weight = np.random.default_rng(0).uniform(0, 1, text.shape[0])
    weight[:250] = 0.0  # a chunk of no weight
    array = SPARSE["csr"](da.from_array(text.toarray(), chunks=(250, 60)))
    same_fit(array, text, center=True, lazy_weight=weight, weight=weight)


@pytest.mark.usefixtures("_anywhere")
def test_a_data_frame(X, same_fit):
    pandas = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    names = [f"x{k}" for k in range(30)]
    frame = pandas.DataFrame(X, columns=names)
    found = same_fit(dd.from_pandas(frame, npartitions=3), frame)
    assert list(found.feature_names_in_) == names
    mixed = frame.astype({"x3": "Float64", "x4": "float16"})
    same_fit(dd.from_pandas(mixed, npartitions=2), mixed.astype(float))


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_that_keep_n_rows_want_them_in_this_process(X, solver, same_fit, two_workers):
    X = X.astype(np.float64)
    array = da.from_array(X, chunks=(500, 30))
    if not SOLVERS[solver].keeps_rows:
        same_fit(array, X, solver=solver, tol=1e-4)
        return
    with pytest.raises(ValueError, match="other machines"):
        SphericalPCA(3, solver=solver).fit(array)
    with dask.config.set(scheduler="threads"):  # asked for, so that the client is not used
        assert isinstance(from_dask(array, X.dtype), DaskSource)
        same_fit(array, X, solver=solver, max_iter=5, tol=1.0)


def test_more_features_than_the_gram_matrix_is_made_for(same_fit, two_workers):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 1100)) * 3
    X += rng.standard_normal(X.shape)
    same_fit(da.from_array(X, chunks=(100, 1100)), X, random_state=0)


@pytest.mark.usefixtures("_anywhere")
def test_score_and_certify(X, weight):
    array = da.from_array(X, chunks=(260, 30))
    model = SphericalPCA(4).fit(X)
    for w in (None, weight):
        found, expected = (model.score(data, sample_weight=w) for data in (array, X))
        assert found == pytest.approx(expected, rel=1e-6)
    found, expected = model.certify(array), model.certify(X)
    assert found.value == pytest.approx(expected.value, rel=1e-6)
    assert found.bound == pytest.approx(expected.bound, rel=1e-5)


def test_certify_few_rows_of_many_features(two_workers):
    X = np.random.default_rng(0).standard_normal((60, 2100))
    model = SphericalPCA(2, tol=1e-2).fit(X)
    found, expected = model.certify(da.from_array(X, chunks=(25, 2100))), model.certify(X)
    assert found.bound == pytest.approx(expected.bound, rel=1e-6)


def test_a_probable_certificate_of_chunks(X, two_workers, monkeypatch):
    """As of rows in memory; every pass is counted, and made on the workers."""
    monkeypatch.setattr(certificate, "DIRECT_SIZE", 10)
    U = SphericalPCA(4, random_state=0).fit(X).components_.T
    lazy = as_rows(from_dask(da.from_array(X, chunks=(100, 30)), X.dtype))
    found, expected = (certificate.certify(Problem(rows), U) for rows in (lazy, as_rows(X)))
    assert (found.kind, found.probability) == ("probable", 1e-9)
    assert found.bound == pytest.approx(expected.bound, rel=1e-5)
    assert lazy.passes > 10


def test_rows_in_float64_are_multiplied_on_the_workers(X, two_workers):
    lazy = DoubleRows(as_rows(from_dask(da.from_array(X, chunks=(100, 30)), X.dtype)))
    rows, rng = DoubleRows(as_rows(X)), np.random.default_rng(0)
    U, factor = rng.standard_normal((30, 3)), rng.random(len(X))
    np.testing.assert_allclose(lazy.project(U), rows.project(U), atol=1e-5)
    found, expected = (Problem(each).covariance_times(U, factor) for each in (lazy, rows))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_rows_come_back_in_their_order(X, weight, two_workers):
    rows = as_rows(from_dask(da.from_array(X, chunks=(70, 30)), X.dtype), weight=weight)
    expected = as_rows(X, weight=weight)
    for name in ("weight", "scale", "norm"):
        np.testing.assert_allclose(getattr(rows.stats, name), getattr(expected.stats, name))
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 3)))[0].astype(X.dtype)
    np.testing.assert_allclose(rows.project(U), expected.project(U), atol=1e-6)
    blocks = list(rows.blocks())
    assert [b.span.start for b in blocks[1:]] == [b.span.stop for b in blocks[:-1]]
    np.testing.assert_array_equal(np.vstack([b.matrix for b in blocks]), X)
    assert (rows.passes, rows.flops) == (expected.passes, expected.flops)
    assert (rows.shape, rows.stored, rows.local) == (X.shape, X.size, False)
    totals, known = rows.totals, expected.totals
    assert totals.weight == pytest.approx(known.weight)
    assert (totals.heaviest, totals.longest) == (known.heaviest, known.longest)


def test_what_was_fitted_is_forgotten_by_the_cluster(X, two_workers):
    SphericalPCA(2).fit(da.from_array(X, chunks=(100, 30)))
    deadline = time.monotonic() + 20  # Dask forgets in the background
    while two_workers.client.futures and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not two_workers.client.futures


def _with(X, row, value):
    X = X.copy()
    X[row, 5] = value
    return X


WRONG = {
    "no rows": (lambda X: da.zeros((0, 4), chunks=(1, 4)), "0 rows"),
    "no direction": (lambda X: da.zeros((10, 4), chunks=(3, 4)), "none has a direction"),
    "few rows": (lambda X: da.ones((1, 5), chunks=(2, 5)), "n_components=2 must be at most"),
    "NaN": (
        lambda X: da.from_array(_with(X, 777, np.nan), chunks=(300, 30)),
        r"NaN in row 777 \(row 177 of chunk 2\), column 5",
    ),
    "infinity, unknown heights": (
        lambda X: _unknown(da.from_array(_with(X, 777, np.inf), chunks=(300, 30))),
        r"infinity \(inf\) in row .*177 of chunk 2.*, column 5",
    ),
    "other columns": (
        lambda X: da.from_array(X, chunks=(300, 30)).map_blocks(lambda b: b[:, :7], meta=X[:0]),
        r"Chunk \d of X has shape .\d+, 7., but must have 30 columns",
    ),
    "text": (
        lambda X: da.from_array(X, chunks=(300, 30)).map_blocks(
            lambda b: b.astype(str).astype(object) + "a", meta=X[:0]
        ),
        "cannot be read as rows of float32",
    ),
}


@pytest.mark.usefixtures("_anywhere")
@pytest.mark.parametrize("what", WRONG)
def test_wrong_data_are_refused(X, what):
    make, message = WRONG[what]
    for center in (False, True):
        with pytest.raises(DataError, match=message):
            SphericalPCA(2, center=center).fit(make(X))


@pytest.mark.usefixtures("_anywhere")
def test_other_mistakes_of_the_user_are_told_as_they_are(X):
    def fail(block):
        raise ZeroDivisionError("of the user")

    array = da.from_array(X, chunks=(300, 30))
    with pytest.raises(ZeroDivisionError, match="of the user"):
        SphericalPCA(2).fit(array.map_blocks(fail, meta=X[:0]))
    with pytest.raises(DataError, match="1203 rows"):
        SphericalPCA(2).fit(array, sample_weight=da.ones(1202, chunks=100))
    bad = _unknown(da.from_array(_with(X, 777, np.nan), chunks=(300, 30)))
    with pytest.raises(DataError, match="row 177 of chunk 2"):
        SphericalPCA(2).fit(X).transform(bad).compute()
