"""The same data on a cluster of processes and in memory: the same answer."""

import time

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import NoDirectionWarning, SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import as_rows
from sphericalpca.rows.cluster import from_dask

da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.usefixtures("two_processes")


def _unknown(array):
    """The same array, of which Dask does not know how many rows each chunk has."""
    keep = da.ones(array.shape[0], chunks=(array.chunks[0],), dtype=bool)
    lost = array[keep]
    assert np.isnan(lost.shape[0])
    return lost


@pytest.mark.parametrize("chunks", [(1203, 30), (100, 30), (350, 7), (17, 30)], ids=str)
def test_any_chunks(X, chunks, same_fit):
    same_fit(da.from_array(X, chunks=chunks), X)


def test_chunks_of_unknown_and_of_no_height(X, same_fit):
    same_fit(_unknown(da.from_array(X, chunks=(250, 30))), X)
    keep = np.arange(len(X)) >= 600  # the first two chunks come out empty
    array = da.from_array(X, chunks=(300, 30))
    same_fit(array[da.from_array(keep, chunks=300)], X[keep])


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_chunks(text, kind, same_fit):
    array = da.from_array(text.toarray(), chunks=(250, 60)).map_blocks(kind)
    with pytest.warns(NoDirectionWarning, match="1 of 900"):
        same_fit(array, text)


def test_sparse_chunks_with_several_columns_of_chunks_and_unknown_heights(text, same_fit):
    dense = _unknown(da.from_array(text.toarray(), chunks=(250, 60)))
    array = dense.rechunk({1: 25}).map_blocks(sparse.csr_array)
    with pytest.warns(NoDirectionWarning, match="1 of 900"):
        same_fit(array, text)


def test_sparse_chunks_with_repeated_indices(text, same_fit):
    def doubled(block):
        parts = sparse.csr_array(block)
        indptr, indices = 2 * parts.indptr, np.repeat(parts.indices, 2)
        return sparse.csr_array((np.repeat(parts.data / 2, 2), indices, indptr), parts.shape)

    array = da.from_array(text.toarray(), chunks=(250, 60)).map_blocks(doubled)
    with pytest.warns(NoDirectionWarning):
        same_fit(array, text)


def test_a_data_frame(X, same_fit):
    pandas = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    names = [f"x{k}" for k in range(30)]
    frame = pandas.DataFrame(X, columns=names)
    lazy = dd.from_pandas(frame, npartitions=3)
    found = same_fit(lazy, frame)
    assert list(found.feature_names_in_) == names
    mixed = frame.astype({"x3": "Float64", "x4": "float16"})
    same_fit(dd.from_pandas(mixed, npartitions=2), mixed.astype(float))


@pytest.mark.parametrize("dtype", ["float64", "float16", "int16", ">f4"])
def test_types_are_those_of_memory(X, dtype, same_fit):
    values = (10 * X).astype(dtype)
    same_fit(da.from_array(values, chunks=(400, 30)), values)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("center", [True, False])
def test_options_and_weights(X, weight, normalize, center, same_fit):
    options = {"weight": weight, "normalize": normalize, "center": center}
    array = da.from_array(X, chunks=(260, 30))
    same_fit(array, X, lazy_weight=weight, **options)
    same_fit(array, X, lazy_weight=da.from_array(weight, chunks=500), **options)


def test_centred_sparse_chunks(text, same_fit):
    weight = np.random.default_rng(0).uniform(0, 1, text.shape[0])
    weight[:250] = 0.0  # a chunk of no weight
    array = da.from_array(text.toarray(), chunks=(250, 60)).map_blocks(sparse.csr_array)
    same_fit(array, text, center=True, lazy_weight=weight, weight=weight)


@pytest.mark.parametrize("solver", [n for n, entry in SOLVERS.items() if not entry.keeps_rows])
def test_solvers_that_keep_nothing_of_n_rows(X, solver, same_fit):
    array = da.from_array(X.astype(np.float64), chunks=(500, 30))
    same_fit(array, X.astype(np.float64), solver=solver, tol=1e-4)


@pytest.mark.parametrize("solver", [n for n, entry in SOLVERS.items() if entry.keeps_rows])
def test_solvers_that_keep_n_rows_are_refused(X, solver):
    with pytest.raises(ValueError, match="other machines"):
        SphericalPCA(3, solver=solver).fit(da.from_array(X, chunks=(500, 30)))


def test_more_features_than_the_gram_matrix_is_made_for(same_fit):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 1100)) * 3
    X += rng.standard_normal(X.shape)
    same_fit(da.from_array(X, chunks=(100, 1100)), X, random_state=0)


def test_score_and_certify(X, weight):
    array = da.from_array(X, chunks=(260, 30))
    model = SphericalPCA(4).fit(X)
    for w in (None, weight):
        assert model.score(array, sample_weight=w) == pytest.approx(
            model.score(X, sample_weight=w), rel=1e-6
        )
    found, expected = model.certify(array), model.certify(X)
    assert found.value == pytest.approx(expected.value, rel=1e-6)
    assert found.bound == pytest.approx(expected.bound, rel=1e-5)


def test_certify_few_rows_of_many_features():
    X = np.random.default_rng(0).standard_normal((60, 2100))
    model = SphericalPCA(2, tol=1e-2).fit(X)
    found, expected = model.certify(da.from_array(X, chunks=(25, 2100))), model.certify(X)
    assert found.bound == pytest.approx(expected.bound, rel=1e-6)


def _eventually(condition):
    """Dask forgets in the background."""
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_what_was_fitted_is_forgotten_by_the_cluster(X, two_processes):
    SphericalPCA(2).fit(da.from_array(X, chunks=(100, 30)))
    assert _eventually(lambda: not two_processes.client.futures)


def test_what_the_user_persisted_is_not_copied(X, two_processes):
    """Chunks of ours are at the same place in the memory of the same workers."""
    client = two_processes.client
    array = client.persist(da.from_array(X, chunks=(100, 30)))

    def places(share):
        import os  # noqa: PLC0415

        return [(os.getpid(), X.__array_interface__["data"][0]) for X in share.matrices]

    def place(chunk):
        import os  # noqa: PLC0415

        return os.getpid(), chunk.__array_interface__["data"][0]

    matrix = from_dask(array, X.dtype)
    ours = {p for placed in matrix.groups for p in client.submit(places, placed.group).result()}
    theirs = set(client.gather(client.map(place, list(array.dask.values()))))
    # A chunk may have moved, so that no worker is idle.
    assert len(ours) == 13
    assert len(ours & theirs) >= 11


def test_rows_come_back_in_their_order(X, weight):
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
