"""`fit(checkpoint=)` and `fit(progress=)`, as users meet them."""

from __future__ import annotations

import itertools
import os
import shutil
import threading
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from sphericalpca import DataError, SphericalPCA
from sphericalpca.estimators import monitoring as progress_module
from sphericalpca.rows import as_rows, finite
from sphericalpca.solvers import Anderson, checkpoint


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    monkeypatch.setattr(checkpoint, "INTERVAL", -1.0)
    monkeypatch.setattr(checkpoint, "PATIENCE", 0)
    monkeypatch.setattr(progress_module, "INTERVAL", 0.0)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((90, 12)) * np.linspace(1.5, 0.7, 12)


class _Stop(Exception):
    pass


def _stopping_after(iterations):
    def tell(progress):
        if progress.iteration >= iterations:
            raise _Stop

    return tell


@pytest.mark.parametrize("solver", ["anderson", "newton"])
def test_a_fit_goes_on_where_it_was_cut_short(X, tmp_path, solver):
    """More in tests/solvers/test_checkpoint.py."""
    X, path = sparse.csr_array(X) if solver == "newton" else X, tmp_path / "fit.ckpt"
    options = {"solver": solver, "tol": 1e-5, "random_state": 0, "init": "random"}
    whole = SphericalPCA(3, **options).fit(X)
    with pytest.raises(_Stop):
        SphericalPCA(3, **options).fit(X, checkpoint=path, progress=_stopping_after(4))
    model = SphericalPCA(3, **{**options, "random_state": 5}).fit(X, checkpoint=path)
    np.testing.assert_allclose(model.components_, whole.components_, atol=1e-6)
    assert model.n_iter_ == whole.n_iter_
    assert model.n_passes_ > whole.n_passes_


def test_other_parameters_and_data_are_refused(X, tmp_path):
    options, path = {"n_components": 3, "solver": "anderson"}, tmp_path / "fit"
    SphericalPCA(**options).fit(X, checkpoint=path)
    before = path.read_bytes()
    for change, match in [
        ({"n_components": 4}, "n_components=3, but this fit has n_components=4"),
        ({"normalize": False}, "normalize=True, but this fit has normalize=False"),
        ({"center": True}, "center=False, but this fit has center=True"),
        ({"solver": "newton"}, "solver='anderson', but this fit has solver='newton'"),
        ({"solver": Anderson(5)}, r"='anderson', but this fit has solver=Anderson\(memory=5\)"),
        ({"init": np.eye(12)[:, :3]}, "init='auto', but this fit has init=given"),
        ({"n_init": 2}, "n_init=1, but this fit has n_init=2"),
    ]:
        with pytest.raises(DataError, match=match):
            SphericalPCA(**(options | change)).fit(X, checkpoint=path)
    for other, match in [
        (X[:-1], "n_samples=90, but this fit has n_samples=89"),
        (X[:, :-1], "n_features=12, but this fit has n_features=11"),
        (X.astype(np.float32), "dtype=float64, but this fit has dtype=float32"),
        (X[:, ::-1].copy(), "other data"),
    ]:
        with pytest.raises(DataError, match=match):
            SphericalPCA(**options).fit(other, checkpoint=path)
    assert path.read_bytes() == before


def test_other_tolerance_goes_on(X, tmp_path):
    rough = SphericalPCA(3, tol=1e-2).fit(X, checkpoint=tmp_path / "fit")
    fine = SphericalPCA(3, tol=1e-6).fit(X, checkpoint=tmp_path / "fit")
    assert rough.residual_ > 1e-6 >= fine.residual_
    assert fine.n_iter_ > rough.n_iter_


def test_a_checkpoint_that_cannot_be_written_is_refused_before_data_are_read(X, tmp_path):
    """The user's own array, named by mistake, is neither read nor written."""
    rows, told = tmp_path / "rows.npy", []
    np.save(rows, X)
    before = rows.read_bytes()
    for place, error, match in [
        (tmp_path, OSError, "is a folder: name a file in it"),
        (rows / "run", OSError, r"cannot be written \(.*another folder"),
        (3, TypeError, "checkpoint is a int, but must be the path"),
        (rows, DataError, r"rows.npy' is not a checkpoint .*an array in .npy format"),
    ]:
        with pytest.raises(error, match=match):
            SphericalPCA(3).fit("never looked at", checkpoint=place, progress=told.append)
    assert not told
    assert rows.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["rows.npy"]


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps folders in which somebody is")
def test_a_folder_that_is_removed_is_made_again_or_named(X, tmp_path, monkeypatch):
    folder = tmp_path / "lost"
    place = folder / "run"

    def remove(progress):
        if progress.iteration == 2 and folder.exists():
            shutil.rmtree(folder)

    model = SphericalPCA(3, tol=1e-9).fit(X, checkpoint=place, progress=remove)
    again = SphericalPCA(3, tol=1e-9).fit(X, checkpoint=place)
    assert again.n_iter_ == model.n_iter_ > 2
    told = "^The current folder no longer exists, so 'run' cannot be written: change to a folder"
    for progress in (remove, None):  # while the fit runs, or before it
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        monkeypatch.chdir(folder)
        if progress is None:
            folder.rmdir()
        with pytest.raises(FileNotFoundError, match=told):
            SphericalPCA(3, tol=1e-9).fit(X, checkpoint="run", progress=progress)


def test_progress_tells_of_passes_rows_and_residual(X):
    told = []
    model = SphericalPCA(3, tol=1e-6, init="random", random_state=0).fit(X, progress=told.append)
    last = told[-1]
    assert last.n_samples == len(X)
    assert last.iteration == model.n_iter_
    assert last.passes == model.n_passes_
    assert last.residual == pytest.approx(model.residual_)
    assert last.rows_read == len(X) * (2 + model.n_passes_)  # checked, measured
    assert all(a.rows_read <= b.rows_read for a, b in itertools.pairwise(told))
    assert any(np.isfinite(one.seconds_left) for one in told)
    assert any(np.isfinite(one.rows_per_second) for one in told)


@pytest.mark.parametrize(
    ("layout", "center"), [("dense", True), ("csr", False), ("csr", True), ("map", False)]
)
def test_progress_is_told_while_data_are_checked(X, tmp_path, layout, center, monkeypatch):
    """Before the first pass every row is read for NaN, for the mean, and for its length."""
    monkeypatch.setattr(finite, "BLOCK_ENTRIES", 100)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    data = {"dense": X, "csr": sparse.csr_array(X), "map": mapped}[layout]
    told = []
    SphericalPCA(3, center=center).fit(data, progress=told.append)
    early = [one.rows_read for one in told if one.n_samples is None]
    assert len(early) > 5
    assert early[-1] == (3 if center else 2) * len(X)
    assert [one.rows_read for one in told] == sorted(one.rows_read for one in told)


def test_an_error_while_data_are_checked_leaves_the_last_fit(X):
    model = SphericalPCA(3).fit(X)
    components = model.components_
    with pytest.raises(_Stop):
        model.fit(2 * X, progress=_stopping_after(0))
    assert model.components_ is components


def test_an_error_in_one_thread_stops_the_others():
    """Or a fit of a large file would go on for minutes after it failed."""
    X, read, failing = np.ones((400, 3)), [], threading.Event()

    def kernel(block):
        read.append(block.span.start)
        if block.span.start >= 200:
            failing.set()
            raise _Stop
        assert failing.wait(60)  # however late the other thread starts
        time.sleep(0.01)
        return (0.0,)

    with threadpool_limits(2):
        rows = as_rows(X, block_rows=2)
        with pytest.raises(_Stop):
            rows.sweep(kernel)
    assert len(read) < 30


def test_a_smaller_tolerance_that_is_not_reached_is_not_called_converged(tmp_path):
    """Rows near a subspace: at the larger tolerance one step more was still promising."""
    rng = np.random.default_rng(0)
    near = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 12))
    X, path = near + 0.1 * rng.standard_normal((200, 12)), tmp_path / "fit.ckpt"
    options = {"solver": "anderson", "init": "random", "random_state": 0}
    first = SphericalPCA(3, tol=0.1, **options).fit(X, checkpoint=path)
    model = SphericalPCA(3, tol=1e-15, max_iter=first.n_iter_ + 1, **options)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, checkpoint=path)
    assert model.residual_ > 1e-15
    assert model.stop_reason_ == "max_iter"


@pytest.mark.parametrize(
    ("solver", "finished"), [("alternating", False), ("alternating", True), ("subspace", True)]
)
def test_no_step_is_made_beyond_a_smaller_number_of_iterations(X, tmp_path, solver, finished):
    path, options = tmp_path / "fit.ckpt", {"solver": solver, "tol": 1e-6, "init": "random"}
    whole = SphericalPCA(3, random_state=0, **options).fit(X)
    if finished:
        with pytest.warns(ConvergenceWarning):
            SphericalPCA(3, random_state=0, max_iter=4, **options).fit(X, checkpoint=path)
    else:
        tell = _stopping_after(5)
        with pytest.raises(_Stop):
            SphericalPCA(3, random_state=0, **options).fit(X, checkpoint=path, progress=tell)
    for most in (2, 4):
        model = SphericalPCA(3, max_iter=most, **options)
        with pytest.warns(ConvergenceWarning):
            model.fit(X, checkpoint=path)
        assert (model.n_iter_, model.stop_reason_) == (4, "max_iter")
    again = SphericalPCA(3, **options).fit(X, checkpoint=path)
    # Subspace acceleration projects the rows again, so it goes on to rounding only.
    close = 0 if solver == "alternating" else 1e-7
    np.testing.assert_allclose(again.components_, whole.components_, rtol=0, atol=close)
