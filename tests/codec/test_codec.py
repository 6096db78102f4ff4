"""SphericalCodec: results, and rejected input."""

import hashlib
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sphericalpca import (
    CapacityWarning,
    DataError,
    NoDirectionWarning,
    ParameterError,
    SphericalCodec,
    open_rows,
)
from tests.codec.conftest import clustered


@pytest.fixture(scope="module")
def codec(rows):
    return SphericalCodec(12, random_state=0).fit(rows)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def test_codes_and_what_they_decode_to(codec, rows, kernels):
    codes = codec.transform(rows)
    assert codes.shape == (3000, 12)
    assert codes.dtype == np.uint8
    np.testing.assert_array_equal(codes, codec.encode(rows))
    V, X = codec.decode_components(codes), codec.inverse_transform(codes)
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(X, V @ codec.components_, atol=1e-6)
    error = ((unit(rows) - X) ** 2).sum(axis=1)
    assert 0.5 * codec.distortion_ < error.mean() < codec.distortion_, "of other rows it is larger"
    np.testing.assert_allclose(codec.error_bound(rows), np.sqrt(error), atol=1e-3)
    assert len(codec.bits_) == codec.n_components_ == len(codec.packing_)
    assert codec.bits_.sum() == pytest.approx(8 * 12, abs=0.01)


def test_compiled_and_plain_codes_are_the_same_and_do_not_depend_on_scale_or_block(
    codec, rows, compiled, monkeypatch
):
    found = []
    for library in (compiled, None):
        monkeypatch.setattr("sphericalpca.codec.quantiser.library", lambda: library)  # noqa: B023
        found.append(codec.encode(rows))
        found.append(codec.encode(rows.astype(np.float64) * 1e3))
        found.append(np.concatenate([codec.encode(rows[:1]), codec.encode(rows[1:])]))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


PROGRAM = """
import hashlib, sys, numpy as np
from sphericalpca import SphericalCodec
codec = SphericalCodec.load(sys.argv[1])
print(hashlib.sha256(codec.encode(np.load(sys.argv[2])).tobytes()).hexdigest())
"""


@pytest.mark.slow("processes of their own")
def test_other_threads_and_other_blas_kernels_give_the_same_bytes(codec, tmp_path):
    X = np.round(clustered(20_000, 40, seed=3), 2)  # rounded: with ties
    codec.save(tmp_path / "codec.safetensors")
    np.save(tmp_path / "X.npy", X)
    expected = hashlib.sha256(codec.encode(X).tobytes()).hexdigest()
    words = [PROGRAM, tmp_path / "codec.safetensors", tmp_path / "X.npy"]
    settings = [{"OPENBLAS_NUM_THREADS": str(count)} for count in (1, 2, 4)]
    settings += [{"OPENBLAS_CORETYPE": name} for name in ("Prescott", "Nehalem", "Haswell")]
    settings.append({"SPHERICALPCA_KERNELS": "scipy", "OPENBLAS_CORETYPE": "Sandybridge"})
    for setting in settings:
        command = [sys.executable, "-c", *map(str, words)]
        done = subprocess.run(
            command, env={**os.environ, **setting}, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == expected, setting


def test_cosines_and_search_agree_with_decoded_vectors(codec, rows, kernels):
    queries, codes = clustered(37, 40, seed=1), codec.encode(rows)
    expected = unit(queries) @ codec.decode(codes).T
    cosines = codec.cosines(queries, codes)
    np.testing.assert_allclose(cosines, expected, atol=2e-6)
    for count in (1, 37):
        found = codec.search(queries[:count], codes, k=7)
        best = -np.sort(-expected[:count], axis=1)[:, :7]
        np.testing.assert_allclose(found.cosines, best, atol=2e-6)
        own = np.take_along_axis(expected[:count], found.ids, 1)
        np.testing.assert_allclose(own, best, atol=2e-6)
        assert found.lower is None
    assert codec.search(queries, codes[:3], k=7).ids.shape == (37, 3)
    none = codec.search(queries, codes[:0], k=7, return_interval=True)
    assert [part.shape for part in none] == [(37, 0)] * 4
    assert (none.ids.dtype, none.cosines.dtype) == (np.int64, np.float32)


def test_reranked_cosines_are_exact(codec, rows):
    queries, codes = clustered(20, 40, seed=1), codec.encode(rows)
    exact = unit(queries) @ unit(rows).T
    found = codec.search(queries, codes, 5, rerank=rows, return_interval=True)
    np.testing.assert_allclose(found.cosines, np.take_along_axis(exact, found.ids, 1), atol=1e-6)
    np.testing.assert_array_equal(found.lower, found.cosines)
    plain = codec.search(queries, codes, 5)

    def hits(result):
        truth = np.argsort(-exact, axis=1)[:, :5]
        return np.mean([len(set(a) & set(b)) for a, b in zip(truth, result.ids, strict=True)])

    assert hits(found) > hits(plain)
    with pytest.raises(DataError, match="rerank has 10 rows, but there are 3,000 codes"):
        codec.search(queries, codes, 5, rerank=rows[:10])


def test_intervals_cover_the_cosines_of_other_queries():
    everything = clustered(22_000, 48, seed=5, decay=0.95).astype(np.float32)
    base, queries = everything[:20_000], everything[20_000:]
    codec = SphericalCodec(16, random_state=0).fit(base)
    for k in (1, 10):
        found = codec.search(queries, codec.encode(base), k, return_interval=True)
        exact = np.einsum("ij,ikj->ik", unit(queries), unit(base)[found.ids])
        covered = (found.lower <= exact) & (exact <= found.upper)
        allowed = (0.93, 0.97) if k == 1 else (0.94, 0.96)  # 2,000 pairs tell no more
        assert allowed[0] <= covered.mean() <= allowed[1]
        assert np.abs(exact - found.cosines).max() <= codec.error_bound(base)[found.ids].max()


def test_more_bytes_keep_more(rows):
    distortion = [SphericalCodec(size, random_state=0).fit(rows).distortion_ for size in (4, 8, 16)]
    assert distortion[0] > 2 * distortion[1] > 4 * distortion[2]


def test_zero_rows_have_a_code_of_their_own(codec, rows, kernels):
    X = rows[:50].copy()
    X[7] = 0
    with pytest.warns(NoDirectionWarning, match="1 of 50 rows has no direction and got the code"):
        codes = codec.encode(X)
    assert not codec.decode(codes)[7].any()
    assert not (np.delete(codes[:, 0], 7) == 255).any()
    assert (codec.cosines(X[:3], codes)[:, 7] == 0).all()
    found = codec.search(rows[:9], codes, 50)
    np.testing.assert_array_equal(found.cosines[found.ids == 7], 0)
    assert codec.error_bound(X)[7] == 0


def test_sparse_rows_files_and_dask_give_the_codes_of_arrays(codec, rows, tmp_path):
    expected = codec.encode(rows)
    np.testing.assert_array_equal(codec.encode(sparse.csr_array(rows)), expected)
    np.save(tmp_path / "rows.npy", rows)
    files = open_rows(tmp_path / "rows.npy")
    np.testing.assert_array_equal(codec.encode(files), expected)
    again = SphericalCodec(12, random_state=0).fit(files)
    assert again.distortion_ == pytest.approx(codec.distortion_, rel=0.05)
    da = pytest.importorskip("dask.array")
    lazy = da.from_array(rows, chunks=(1000, 20))
    np.testing.assert_array_equal(codec.encode(lazy).compute(), expected)
    some = lazy[da.from_array(np.arange(3000), chunks=1000) >= 1000]  # the first chunk is empty
    np.testing.assert_array_equal(codec.encode(some).compute(), expected[1000:])
    bad = rows.copy()
    bad[1007, 2] = np.nan
    with pytest.raises(DataError, match="NaN in row 7 of chunk 1, column 2"):
        codec.encode(da.from_array(bad, chunks=(1000, 40))).compute()


def test_dask_rows_can_be_fitted(rows):
    da = pytest.importorskip("dask.array")
    found = SphericalCodec(6, random_state=0).fit(da.from_array(rows, chunks=(1000, 40)))
    expected = SphericalCodec(6, random_state=0).fit(rows).distortion_
    assert found.distortion_ == pytest.approx(expected, rel=0.05)


def test_rows_of_weight_zero_do_not_matter(rows):
    X = np.concatenate([rows[:1000], 100 * rows[1000:1300, ::-1]])
    weight = np.repeat([1.0, 0.0], [1000, 300])
    alone = SphericalCodec(8, random_state=0).fit(rows[:1000])
    found = SphericalCodec(8, random_state=0).fit(X, sample_weight=weight)
    assert found.distortion_ == pytest.approx(alone.distortion_, rel=0.2)


def test_a_given_number_of_components_is_kept(rows):
    codec = SphericalCodec(4, n_components=9, random_state=0).fit(rows)
    assert codec.components_.shape == (9, 40)
    with pytest.raises(DataError, match="n_components=50 must be at most 40"):
        SphericalCodec(4, n_components=50).fit(rows)


@pytest.mark.parametrize(
    ("X", "n_bytes", "told"),
    [
        (np.eye(5), 96, ["n_bytes=96 is more .*: codes have 5 bytes", "levels? instead of 256"]),
        (np.ones((400, 6)), 2, ["n_bytes=2 is more than", "1 level instead of 256"]),
        (np.repeat(clustered(3, 8), 200, axis=0), 2, ["256: the rows are too few or too similar"]),
        (clustered(60, 30), 8, ["60 levels instead of 256"]),
    ],
)
def test_few_rows_give_fewer_bytes_or_levels_with_one_warning_each(X, n_bytes, told):
    with pytest.warns(CapacityWarning) as record:
        codec = SphericalCodec(n_bytes, random_state=0).fit(X)
    assert len(record) == len(told)
    for line, warning in zip(told, record, strict=True):
        assert re.search(line, str(warning.message))
    if codec.n_components_ == len(codec.bits_) < 10:  # all that there is
        np.testing.assert_allclose(codec.decode(codec.encode(X)), unit(X), atol=1e-3)
    assert codec.search(X[:2], codec.encode(X), 1, return_interval=True).ids.shape == (2, 1)


def test_heavy_tails_and_other_scales_do_no_harm():
    rng = np.random.default_rng(0)
    X = rng.standard_t(1.5, (3000, 30)) * 10.0 ** rng.uniform(-6, 6, (3000, 1))
    codec = SphericalCodec(20, random_state=0).fit(X)
    assert codec.distortion_ < 0.2
    assert np.isfinite(codec.decode(codec.encode(X))).all()


def test_what_is_wrong_is_said(codec, rows):
    codes = codec.encode(rows[:5])
    for wrong in (codes[:, :3], codes.astype(int), codes[0]):
        with pytest.raises(DataError, match=r"this codec writes uint8 of shape \(n_samples, 12\)"):
            codec.decode(wrong)
    with pytest.raises(ValueError, match="40 features"):
        codec.encode(rows[:, :7])
    with pytest.raises(DataError, match="NaN"):
        codec.encode(np.full((2, 40), np.nan))
    for k in (0, 2.5, True):
        with pytest.raises(ParameterError, match="must be a positive integer"):
            codec.search(rows[:2], codes, k=k)
    for method in ("decode", "decode_components"):
        with pytest.raises(NotFittedError):
            getattr(SphericalCodec(), method)(codes)
    with pytest.raises(ValueError, match="'n_bytes' parameter"):
        SphericalCodec(0).fit(rows)


def test_a_fit_that_fails_leaves_the_last_one(rows):
    codec = SphericalCodec(4, random_state=0).fit(rows)
    before = codec.encode(rows[:9])
    with pytest.raises(DataError):
        codec.fit(np.full((9, 3), np.nan))
    np.testing.assert_array_equal(codec.encode(rows[:9]), before)


@pytest.mark.filterwarnings("ignore:59999 of 60000")
def test_a_sample_without_a_direction_is_an_error() -> None:
    X = np.zeros((60_000, 2))
    X[1] = 1.0
    with pytest.raises(DataError, match="All 49152 rows in the sample are zero: remove zero rows"):
        SphericalCodec(1, random_state=2).fit(X)
