"""Rows in files are the rows in memory: the same answers from the same data, in less memory."""

from __future__ import annotations

import gc
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse

from reliability.samples import SAMPLES, sample_suffix
from sphericalpca import KSVD, R1PCA, DataError, SphericalKMeans, SphericalPCA, open_rows
from sphericalpca.linalg import principal_angles
from sphericalpca.parallel import parallel
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows, weighted_mean
from sphericalpca.rows.streamed import StreamedRows

N, M, R = 600, 20, 4
# Enough for blocks of some ten rows on one thread.
SMALL = 5_000


@pytest.fixture(scope="module")
def X():
    """float32 rows with four directions well above the rest, a zero row, and an offset."""
    rng = np.random.default_rng(11)
    spectrum = np.r_[np.linspace(3, 2, R), 0.7 * 0.9 ** np.arange(M - R)]
    X = (rng.standard_normal((N, M)) * spectrum) @ np.linalg.qr(rng.standard_normal((M, M)))[0]
    X[rng.random(X.shape) < 0.1] = 0.0
    X[123] = 0.0
    return (X + 0.2 * (X != 0)).astype(np.float32)


@pytest.fixture(scope="module")
def weight():
    return np.random.default_rng(3).uniform(0.0, 2.0, N)


@pytest.fixture(params=["dense", "sparse", "several"])
def source(request, X, tmp_path):
    """X in a dense file, in a sparse file, in several files."""
    if request.param == "sparse":
        sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(X))
        return open_rows(tmp_path / "X.npz", memory_budget=SMALL)
    for k, part in enumerate([X] if request.param == "dense" else np.split(X, 5)):
        np.save(tmp_path / f"{k}.npy", part)
    return open_rows(tmp_path / "*.npy", memory_budget=SMALL)


# Scaled and centred, the height of blocks, threads.
READINGS = [
    *[(True, True, 7, 1), (True, False, 250, 2), (False, True, None, 3), (False, False, 1, 1)],
    *[(True, True, 11, 3), (False, True, 11, 2)],
]


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_evaluations_are_those_of_rows_in_memory(X, weight, source, reading, random_U):
    """Whatever the blocks and the number of threads; and twice the same to the last bit."""
    normalize, center, height, threads = reading
    U, mean = random_U(M, R).astype(np.float32), weighted_mean(X, weight) if center else None
    options = {"weight": weight, "normalize": normalize, "mean": mean}
    expected = Problem(as_rows(X, **options))
    with parallel(threads):
        found = Problem(as_rows(source, block_rows=height, **options))
        a, b, again = found.evaluate(U), expected.evaluate(U), found.evaluate(U)
    assert isinstance(found.rows, StreamedRows)
    np.testing.assert_allclose(found.rows.stats.norm, expected.rows.stats.norm, rtol=1e-6)
    np.testing.assert_allclose(found.rows.stats.scale, expected.rows.stats.scale, rtol=1e-6)
    np.testing.assert_array_equal(found.rows.stats.weight, expected.rows.stats.weight)
    assert a.value == pytest.approx(b.value, rel=1e-6)
    assert found.loss(a.value) == pytest.approx(expected.loss(b.value), rel=1e-6)
    np.testing.assert_allclose(a.gradient, b.gradient, atol=1e-5 * np.abs(b.gradient).max())
    np.testing.assert_array_equal(a.gradient, again.gradient)
    np.testing.assert_allclose(found.rows.project(U), expected.rows.project(U), atol=1e-5)


@pytest.mark.parametrize(("normalize", "center"), [(True, True), (False, False)])
def test_fits_are_those_of_rows_in_memory(X, weight, source, normalize, center):
    model = SphericalPCA(R, random_state=0, tol=1e-5, normalize=normalize, center=center)
    told, answers = [], []
    for data in (X, source):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            V = model.fit_transform(data, sample_weight=weight)
            np.testing.assert_allclose(model.transform(data), V, atol=1e-6)
        told.append([str(warning.message) for warning in said])
        score, gap = model.score(data, sample_weight=weight), model.certify(data).gap
        answers.append((model.loss_, model.components_.T, V, score, gap))
    (objective, U, V, score, gap), (expected_objective, W, expected_V, *expected) = answers[::-1]
    assert objective == pytest.approx(expected_objective, rel=1e-6)
    assert principal_angles(U, W).max() < 1e-3
    np.testing.assert_allclose(V, expected_V, atol=1e-3)
    assert (score, gap) == pytest.approx(tuple(expected), rel=1e-5, abs=1e-5)
    assert model.n_features_in_ == M
    assert told[0] == told[1]


def test_the_mean_is_that_in_memory_and_its_rows_are_told_of(X, weight, source):
    for data in (source, X, sparse.csr_array(X)):
        told = []
        found = weighted_mean(data, watch=told.append)
        assert sum(told) == len(X)
        np.testing.assert_allclose(found, X.mean(axis=0, dtype=float), rtol=1e-6)
    expected = np.average(X.astype(float), axis=0, weights=weight)
    np.testing.assert_allclose(weighted_mean(source, weight), expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning")
def test_progress_counts_every_read_of_the_files(X, source):
    for center in (True, False):
        told = []
        model = SphericalPCA(R, center=center, tol=1e-2).fit(source, progress=told.append)
        # One for the lengths, one for the mean, beside the passes; half a pass is a whole read.
        reads = told[-1].rows_read / len(X)
        assert reads >= model.n_passes_ + 1 + center
        assert reads == int(reads)


def test_a_model_of_other_columns_is_refused_with_the_rule(X, source):
    model = SphericalPCA(2).fit(X[:100, :5])
    for call in (model.transform, model.score, model.certify):
        with pytest.raises(DataError, match=r"20 features, but .* 5 features.*pass the columns"):
            call(source)


@pytest.fixture
def file(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return tmp_path / "X.npy"


@pytest.mark.parametrize("model", [R1PCA(2), KSVD(2), SphericalKMeans(2)])
def test_estimators_that_hold_data_in_memory_say_so(file, model):
    with pytest.raises(DataError, match=f"{type(model).__name__} needs its data in memory"):
        model.fit(open_rows(file))


def test_a_path_is_no_matrix(file):
    for path in (str(file), file, str(file).encode()):
        with pytest.raises(DataError, match=r"X is text.*X\.npy.*pass open_rows\(X\)"):
            SphericalPCA().fit(path)


def test_a_failed_fit_leaves_the_last_one(X, tmp_path):
    model = SphericalPCA(2).fit(X[:100])
    before = model.components_.copy()
    broken = X.copy()
    broken[599, 19] = np.nan
    np.save(tmp_path / "broken.npy", broken)
    with pytest.raises(DataError, match="NaN in row 599"):
        model.fit(open_rows(tmp_path / "broken.npy"))
    np.testing.assert_array_equal(model.components_, before)


@pytest.mark.parametrize(
    "kind", ["npy", "npy fortran", "float16", "npz", "parquet fixed", "hdf5 chunks"]
)
def test_a_sweep_stays_within_its_budget(tmp_path, kind):
    """20,000 x 50 numbers, 4 MB, with a tenth of that for readers; n numbers each for stats."""
    n, m, budget = 20_000, 50, 400_000
    X = np.random.default_rng(0).standard_normal((n, m), dtype=np.float32)
    X, way = (X.astype("f2"), "npy") if kind == "float16" else (X * (np.abs(X) > 1), kind)
    path = tmp_path / f"X{sample_suffix(SAMPLES[way])}"
    SAMPLES[way].write(X, path, 500)
    source = open_rows(path, memory_budget=budget)
    del X
    gc.collect()
    rows = as_rows(source)
    tracemalloc.start()
    try:
        as_rows(source)
        measuring = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        rows.sweep(lambda block: (block.correlate(block.project(np.eye(m, 3, dtype="f4"))),))
        sweeping = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    stats = 9 * 8 * n
    slack = 150_000
    assert sweeping <= budget + slack
    assert measuring <= budget + stats + slack
