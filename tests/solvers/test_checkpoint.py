"""Runs that are cut short and go on: they end where they would have ended anyway."""

from __future__ import annotations

import io
import json
import os
import tracemalloc
import zipfile

import numpy as np
import pytest

from sphericalpca.exceptions import DataError
from sphericalpca.iterate import Monitor
from sphericalpca.linalg import principal_angles
from sphericalpca.problem import Problem
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import as_rows
from sphericalpca.solvers import (
    Alternating,
    Anderson,
    Checkpoint,
    Linearized,
    Newton,
    Subspace,
    checkpoint,
    solve,
)
from sphericalpca.solvers.checkpoint_checks import digest_of

CASES = {
    **{name: (entry.load()(), 1e-3) for name, entry in SOLVERS.items() if entry.resumable},
    "anderson": (Anderson(), 1e-6),
    "subspace": (Subspace(columns=9), 1e-6),
    "newton": (Newton(switch=0.1), 1e-10),
    "linearized": (Linearized(), 0.0),
    "block, V first": (Linearized("block", "block", "vu"), 0.0),
}
ABOUT = {"n_samples": 60, "n_components": 3}
# What a run knows of itself, apart from what its reads of the data cost.
TOLD = ("loss", "residual")


class CutShortError(Exception):
    """Stands for a crash."""


class Crash(Monitor):
    """Crashes after a number of iterations."""

    def __init__(self, after):
        self.left = after

    def end(self, state):
        self.left -= 1
        if self.left == 0:
            raise CutShortError
        return False


@pytest.fixture(autouse=True)
def _always_write(monkeypatch):
    monkeypatch.setattr(checkpoint, "INTERVAL", -1.0)
    monkeypatch.setattr(checkpoint, "PATIENCE", 0)


def _problem(dtype=np.float64, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 14)) * np.linspace(1.5, 0.5, 14)
    return Problem(as_rows(X.astype(dtype), block_rows=11, **options))


def _solve(solver, tol, path=None, *, problem=None, seed=1, max_iter=30, **options):
    file = None if path is None else Checkpoint(path, ABOUT)
    return solve(
        problem or _problem(),
        3,
        solver=solver,
        tol=tol,
        max_iter=max_iter,
        init="random",
        rng=np.random.default_rng(seed),
        checkpoint=file,
        **options,
    )


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("after", [1, 2, 7])
def test_a_run_that_was_cut_short_ends_like_one_that_was_not(tmp_path, name, after):
    solver, tol = CASES[name]
    whole = _solve(solver, tol).solution
    with pytest.raises(CutShortError):
        _solve(solver, tol, tmp_path / "run", monitor=Crash(after))
    found = _solve(solver, tol, tmp_path / "run", seed=99).solution
    assert (found.n_iter, found.stop_reason) == (whole.n_iter, whole.stop_reason)
    for told in TOLD:
        np.testing.assert_allclose(found.history[told], whole.history[told], rtol=1e-6, atol=1e-10)
    assert principal_angles(found.U, whole.U)[-1] < 1e-6
    assert found.start_value == whole.start_value
    assert (np.diff(found.history["seconds"]) >= 0).all()
    assert (np.diff(found.history["passes"]) > 0).all()


# All but the one that projects the rows on its basis again.
@pytest.mark.parametrize("name", [n for n, e in SOLVERS.items() if e.resumable and n != "subspace"])
def test_it_is_the_same_to_the_last_bit_where_nothing_is_projected_again(tmp_path, name):
    solver, tol = CASES[name]
    whole = _solve(solver, tol).solution
    with pytest.raises(CutShortError):
        _solve(solver, tol, tmp_path / "run", monitor=Crash(5))
    found = _solve(solver, tol, tmp_path / "run").solution
    np.testing.assert_array_equal(found.U, whole.U)


@pytest.mark.parametrize("after", [3, 25, 45])
def test_among_several_starts(tmp_path, after):
    """In the first run, in the second, in the third; the best one is known all the same."""
    options = {"n_init": 3, "max_iter": 20, "tol": 0.0}
    whole = _solve(Alternating(), **options)
    with pytest.raises(CutShortError):
        _solve(Alternating(), path=tmp_path / "run", monitor=Crash(after), **options)
    found = _solve(Alternating(), path=tmp_path / "run", seed=99, **options)
    np.testing.assert_allclose(found.solution.U, whole.solution.U, atol=1e-12)
    told, expected = found.solution.history["loss"], whole.solution.history["loss"]
    np.testing.assert_allclose(told, expected, rtol=1e-12)


def test_the_svd_ratio_survives(tmp_path):
    def run(path=None, monitor=None):
        file = path and Checkpoint(path, ABOUT)
        options = {"solver": Anderson(), "tol": 1e-6, "init": "svd"}
        rng = np.random.default_rng(0)
        return solve(_problem(), 3, rng=rng, checkpoint=file, monitor=monitor, **options)

    with pytest.raises(CutShortError):
        run(tmp_path / "run", Crash(3))
    assert run(tmp_path / "run").svd_ratio == run().svd_ratio


def test_a_finished_run_is_not_run_again(tmp_path):
    first = _solve(Anderson(), 1e-6, tmp_path / "run").solution
    problem = _problem()
    again = _solve(Anderson(), 1e-6, tmp_path / "run", problem=problem).solution
    np.testing.assert_array_equal(again.U, first.U)
    assert problem.rows.passes == first.history["passes"][-1] + 1
    # A smaller tolerance takes it further.
    further = _solve(Anderson(), 1e-9, tmp_path / "run", max_iter=200).solution
    assert further.residual <= 1e-9
    assert further.n_iter > first.n_iter


def test_passes_of_both_runs_are_counted(tmp_path):
    whole = _solve(Alternating(), 1e-3).solution
    with pytest.raises(CutShortError):
        _solve(Alternating(), 1e-3, tmp_path / "run", monitor=Crash(4))
    found = _solve(Alternating(), 1e-3, tmp_path / "run").solution
    # The crash lost the fourth iteration, and the state was evaluated again.
    assert found.history["passes"][-1] == whole.history["passes"][-1] + 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_data_are_refused(tmp_path, dtype):
    _solve(Anderson(), 1e-3, tmp_path / "run", problem=_problem(dtype))
    with pytest.raises(DataError, match=r"made from other data \(at its subspace f was"):
        _solve(Anderson(), 1e-3, tmp_path / "run", problem=_problem(dtype, seed=5))


def test_other_weights_are_other_data(tmp_path):
    _solve(Anderson(), 1e-3, tmp_path / "run")
    other = _problem(weight=np.linspace(0.5, 1.5, 60))
    with pytest.raises(DataError, match="other data"):
        _solve(Anderson(), 1e-3, tmp_path / "run", problem=other)


def test_other_parameters_are_refused_by_name(tmp_path):
    _solve(Anderson(), 1e-3, tmp_path / "run")
    file = Checkpoint(tmp_path / "run", {**ABOUT, "n_components": 4})
    with pytest.raises(DataError, match=r"n_components=3, but this fit has n_components=4: remove"):
        file.load(_problem(), Anderson(), 4, np.random.default_rng(0))


@pytest.mark.parametrize(
    "content",
    [b"", b"no archive", b"PK\x03\x04 cut off", b"\x93NUMPY\x01\x00v\x00{", b"\x80\x04K."],
)
def test_what_is_no_checkpoint_is_refused(tmp_path, content):
    path = tmp_path / "run"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"run' is not a checkpoint.*remove it"):
        _solve(Anderson(), 1e-3, path)
    assert path.read_bytes() == content


def _array(file):
    np.save(file, np.eye(3))


def _objects(file):
    np.save(file, np.array([None, {}], dtype=object))


def _archive(file):
    np.savez(file, X=np.eye(3), header=np.zeros(2))


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (lambda file: None, "it is empty"),
        (_array, "it is an array in .npy format"),
        (_objects, "it is an array in .npy format"),
        (lambda file: file.write(b"id,x\n1,2\n"), "it is a file of another kind"),
        (_archive, "it lacks parts that a checkpoint has, or they cannot be read"),
    ],
    ids=["empty", "array", "objects", "text", "archive"],
)
def test_files_of_other_kinds_are_refused_in_words_of_our_own(tmp_path, write, reason):
    path = tmp_path / "run"
    with path.open("wb") as file:
        write(file)
    before = path.read_bytes()
    with pytest.raises(DataError) as refused:
        _solve(Anderson(), 1e-3, path)
    assert str(refused.value) == (
        f"{str(path)!r} is not a checkpoint of sphericalpca, or is damaged ({reason}): choose "
        "another file, or remove it if you can do without it."
    )
    assert path.read_bytes() == before


def test_a_damaged_checkpoint_is_refused(tmp_path):
    path = tmp_path / "run"
    _solve(Anderson(), 1e-3, path)
    whole = path.read_bytes()
    for length in np.linspace(0, len(whole) - 1, 40).astype(int):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match="not a checkpoint"):
            _solve(Anderson(), 1e-3, path)


def _headed(arrays, **changes):
    header = {**json.loads(arrays["header"].tobytes()), **changes}
    return {**arrays, "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)}


def _without(arrays, prefix):
    return {name: array for name, array in arrays.items() if not name.startswith(prefix)}


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: _without(arrays, "state."),
        lambda arrays: {**arrays, "state.U": arrays["state.U"][:2]},
        lambda arrays: _headed(arrays, about=[]),
        lambda arrays: _headed(arrays, value="much"),
        lambda arrays: _headed(arrays, best={"value": 1.0}),
        lambda arrays: _headed(arrays, value=10**400),
        lambda arrays: {**arrays, "header": np.full(100_000, ord("["), dtype=np.uint8)},
    ],
    ids=["no state", "cut U", "about a list", "text", "half a best", "too large", "no bottom"],
)
def test_an_archive_of_something_else_is_refused(tmp_path, change):
    path = tmp_path / "run"
    _solve(Anderson(), 1e-3, path)
    with np.load(path) as archive:
        changed = change(dict(archive))
    with path.open("wb") as file:
        np.savez(file, **changed)
    with pytest.raises(DataError, match=r"run' is not a checkpoint.*remove it"):
        _solve(Anderson(), 1e-3, path)


def _forged(path, arrays, **changes):
    """A checkpoint that says something else, with a checksum that fits."""
    header = json.loads(arrays["header"].tobytes()) | changes
    others = {name: array for name, array in arrays.items() if name != "header"}
    header.pop("digest")
    header["digest"] = digest_of(header, others)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, header=text, **others)


def _nested(depth):
    return [_nested(depth - 1)] if depth else []


NONSENSE = [None, "x", -1, 10**400, np.inf, [], {"a": 1}, True, _nested(300)]


@pytest.fixture
def run_of_two(tmp_path):
    """The file of a run that was cut short in its second start, and what is in it."""
    path = tmp_path / "run"
    with pytest.raises(CutShortError):
        _solve(Anderson(), 0.0, path, n_init=2, max_iter=5, monitor=Crash(8))
    with np.load(path) as archive:
        return path, dict(archive)


@pytest.mark.parametrize("name", ["number", "svd_value", "rng", "seconds", "passes", "finished"])
def test_a_forged_header_is_refused_or_does_no_harm(run_of_two, name):
    """Anybody can make a checksum that fits."""
    path, arrays = run_of_two
    refused = 0
    for value in NONSENSE:
        _forged(path, arrays, **{name: value})
        try:
            found = _solve(Anderson(), 0.0, path, n_init=2, max_iter=5)
        except DataError as error:
            refused += "not a checkpoint" in str(error)
        else:
            assert 0 < found.solution.value < np.inf
            assert not np.isinf(found.svd_ratio)
    assert refused >= len(NONSENSE) - 1  # one of them may be what it should be


@pytest.mark.parametrize("name", ["value", "residual", "n_iter", "constants"])
def test_a_forged_best_is_refused(run_of_two, name):
    path, arrays = run_of_two
    best = json.loads(arrays["header"].tobytes())["best"]
    for value in [None, "x", -1, [], np.inf, True]:
        _forged(path, arrays, best=best | {name: value})
        with pytest.raises(DataError, match="not a checkpoint"):
            _solve(Anderson(), 0.0, path, n_init=2, max_iter=5)


@pytest.mark.parametrize("part", ["state.U", "best.U"])
@pytest.mark.parametrize(
    "change",
    [
        lambda U: 0 * U,
        lambda U: 2 * U,
        lambda U: np.full_like(U, np.nan),
        lambda U: U[:, :2],
        lambda U: U[:5],
        lambda U: U.T,
        lambda U: U.astype(complex),
        lambda U: np.array(["x"]),
    ],
)
def test_a_forged_subspace_is_refused(run_of_two, part, change):
    """It would be the result, if its value is said to be large."""
    path, arrays = run_of_two
    best = json.loads(arrays["header"].tobytes())["best"] | {"value": 1e9}
    _forged(path, {**arrays, part: change(arrays[part])}, best=best)
    with pytest.raises(DataError, match=r"not a checkpoint|other data"):
        _solve(Anderson(), 0.0, path, n_init=2, max_iter=5)


def _claiming(rows):
    """An array whose header announces a number of entries, of which it has none."""
    text = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (rows,)}
    np.lib.format.write_array_header_1_0(text, header)
    return text.getvalue()


@pytest.mark.parametrize("bomb", ["packed", "announced", "long header"])
def test_no_memory_is_reserved_for_what_is_not_in_the_file(run_of_two, bomb):
    """64 MB of zeros in 64 kB, 80 MB that are announced only, a header of 64 MB."""
    path, _ = run_of_two
    kind = zipfile.ZIP_STORED if bomb == "announced" else zipfile.ZIP_DEFLATED
    content = {
        "packed": bytes(64 << 20),
        "announced": _claiming(10_000_000),
        "long header": b"\x93NUMPY\x02\x00" + (64 << 20).to_bytes(4, "little") + bytes(64 << 20),
    }[bomb]
    with zipfile.ZipFile(path, "a", kind) as archive:
        archive.writestr("state.more.npy", content)
    del content
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="not a checkpoint"):
            _solve(Anderson(), 0.0, path, n_init=2, max_iter=5)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_a_packed_checkpoint_that_is_damaged_is_refused(tmp_path):
    path = tmp_path / "run"
    _solve(Anderson(), 1e-3, path)
    with np.load(path) as archive:
        arrays = dict(archive)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        first = archive.getinfo("header.npy")
    begin = first.header_offset + 30 + len(first.filename) + 20
    content[begin : begin + 40] = b"\xff" * 40
    path.write_bytes(content)
    with pytest.raises(DataError, match="not a checkpoint"):
        _solve(Anderson(), 1e-3, path)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link, target = tmp_path / "run", tmp_path / "elsewhere" / "file"
    link.symlink_to(target)
    _solve(Anderson(), 1e-3, link)
    assert link.is_symlink()
    assert target.is_file()
    assert [file.name for file in target.parent.iterdir()] == ["file"]


def test_pickles_are_not_opened(tmp_path):
    trap = np.array([{"never": "unpickled"}], dtype=object)
    with (tmp_path / "run").open("wb") as file:
        np.savez(file, header=trap)
    with pytest.raises(DataError, match="not a checkpoint"):
        _solve(Anderson(), 1e-3, tmp_path / "run")


def test_a_later_format_is_refused(tmp_path):
    header = np.frombuffer(json.dumps({"format": 999}).encode(), dtype=np.uint8)
    with (tmp_path / "run").open("wb") as file:
        np.savez(file, header=header)
    with pytest.raises(DataError, match="has format 999, but this version reads formats 2 and 3"):
        _solve(Anderson(), 1e-3, tmp_path / "run")


def test_solvers_of_others_say_what_is_missing(tmp_path):
    class Own:
        def init(self, problem, start):
            return Alternating().init(problem, start)

        def step(self, problem, state):
            return Alternating().step(problem, state)

    assert _solve(Own(), 1e-3).solution.n_iter > 1
    with pytest.raises(TypeError, match="solver=Own has no method 'saved'"):
        _solve(Own(), 1e-3, tmp_path / "run")


def test_the_last_checkpoint_stays_when_a_new_one_fails(tmp_path, monkeypatch):
    path = tmp_path / "run"
    with pytest.raises(CutShortError):
        _solve(Anderson(), 1e-6, path, monitor=Crash(3))
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint.np, "savez", full)
    with pytest.raises(OSError, match=r"run' cannot be written \(No space.*make room"):
        _solve(Anderson(), 1e-6, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_writes_are_spared(tmp_path, monkeypatch):
    """A fit of a moment writes its beginning and its end."""
    monkeypatch.setattr(checkpoint, "INTERVAL", 1000.0)
    written = []
    write = Checkpoint._write
    monkeypatch.setattr(Checkpoint, "_write", lambda *a: (written.append(a), write(*a)))
    _solve(Alternating(), 1e-5, tmp_path / "run")
    assert len(written) == 2


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "run")
    with pytest.raises(DataError, match="it is a device, pipe or socket"):
        checkpoint.check_checkpoint_path(tmp_path / "run")
