"""Runs that are cut short and go on: they end where they would have ended anyway."""

from __future__ import annotations

import io
import json
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
NO_CHECKPOINT = r"run' is not a checkpoint.*delete it"


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


def _solve(solver, tol, path=None, *, problem=None, seed=1, **options):
    file = None if path is None else Checkpoint(path, ABOUT)
    options = {"init": "random", "max_iter": 30, "checkpoint": file, **options}
    rng = np.random.default_rng(seed)
    return solve(problem or _problem(), 3, solver=solver, tol=tol, rng=rng, **options)


def _cut_short(solver, tol, path, after, **options):
    with pytest.raises(CutShortError):
        _solve(solver, tol, path, monitor=Crash(after), **options)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run"


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_was_cut_short_ends_like_one_that_was_not(tmp_path, name):
    solver, tol = CASES[name]
    whole = _solve(solver, tol).solution
    for after in (1, 2, 5, 7):
        path = tmp_path / f"{after}"
        _cut_short(solver, tol, path, after)
        found = _solve(solver, tol, path, seed=99).solution
        assert (found.n_iter, found.stop_reason) == (whole.n_iter, whole.stop_reason)
        for told in ("loss", "residual"):
            here, there = found.history[told], whole.history[told]
            np.testing.assert_allclose(here, there, rtol=1e-6, atol=1e-10)
        assert principal_angles(found.U, whole.U)[-1] < 1e-6
        assert found.start_value == whole.start_value
        assert (np.diff(found.history["seconds"]) >= 0).all()
        assert (np.diff(found.history["passes"]) > 0).all()
        if name in SOLVERS and name != "subspace":  # which projects the rows on its basis again
            np.testing.assert_array_equal(found.U, whole.U)
        if name == "alternating":
            # The crash lost an iteration, and the state was evaluated again.
            assert found.history["passes"][-1] == whole.history["passes"][-1] + 1


@pytest.mark.parametrize(("after", "init"), [(3, "random"), (25, "random"), (45, "svd")])
def test_among_several_starts(path, after, init):
    """In the first run, in the second, in the third; the best one is known all the same."""
    options = {"n_init": 3, "max_iter": 20, "init": init}
    whole = _solve(Alternating(), 0.0, **options)
    _cut_short(Alternating(), 0.0, path, after, **options)
    found = _solve(Alternating(), 0.0, path, seed=99, **options)
    np.testing.assert_allclose(found.solution.U, whole.solution.U, atol=1e-12)
    told, expected = found.solution.history["loss"], whole.solution.history["loss"]
    np.testing.assert_allclose(told, expected, rtol=1e-12)
    np.testing.assert_array_equal(found.svd_ratio, whole.svd_ratio)  # NaN without an SVD


def test_a_finished_run_is_not_run_again(path):
    first = _solve(Anderson(), 1e-6, path).solution
    problem = _problem()
    again = _solve(Anderson(), 1e-6, path, problem=problem).solution
    np.testing.assert_array_equal(again.U, first.U)
    assert problem.rows.passes == first.history["passes"][-1] + 1
    # A smaller tolerance takes it further.
    further = _solve(Anderson(), 1e-9, path, max_iter=200).solution
    assert further.residual <= 1e-9
    assert further.n_iter > first.n_iter


def test_other_data_are_refused(path, float_type):
    """Other weights are other data, too."""
    _solve(Anderson(), 1e-3, path, problem=_problem(float_type))
    for options in ({"seed": 5}, {"weight": np.linspace(0.5, 1.5, 60)}):
        other = _problem(float_type, **options)
        with pytest.raises(DataError, match=r"made from other data \(at its subspace f was"):
            _solve(Anderson(), 1e-3, path, problem=other)


def test_other_parameters_are_refused_by_name(path):
    _solve(Anderson(), 1e-3, path)
    file = Checkpoint(path, {**ABOUT, "n_components": 4})
    with pytest.raises(DataError, match=r"n_components=3, but this fit has n_components=4: remove"):
        file.load(_problem(), Anderson(), 4, np.random.default_rng(0))


def _saved(save, *arrays, **named):
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


UNREADABLE = "it lacks parts that a checkpoint has, or they cannot be read"
OTHER_FILES = {
    "empty": (b"", "it is empty"),
    "text": (b"id,x\n1,2\n", "it is a file of another kind"),
    "a pickle": (b"\x80\x04K.", "it is a file of another kind"),
    "cut off": (b"PK\x03\x04 cut off", UNREADABLE),
    "half an array": (b"\x93NUMPY\x01\x00v\x00{", "it is an array in .npy format"),
    "an array": (_saved(np.save, np.eye(3)), "it is an array in .npy format"),
    "an archive": (_saved(np.savez, X=np.eye(3), header=np.zeros(2)), UNREADABLE),
    "objects": (_saved(np.savez, header=np.array([{"never": "unpickled"}])), UNREADABLE),
}


@pytest.mark.parametrize("kind", OTHER_FILES)
def test_files_of_other_kinds_are_refused_in_words_of_our_own(path, kind):
    content, reason = OTHER_FILES[kind]
    path.write_bytes(content)
    with pytest.raises(DataError) as refused:
        _solve(Anderson(), 1e-3, path)
    assert str(refused.value) == (
        f"{str(path)!r} is not a checkpoint of sphericalpca, or is damaged ({reason}): choose "
        "another file, or delete it if you do not need it."
    )
    assert path.read_bytes() == content


def test_a_later_format_is_refused(path):
    header = np.frombuffer(json.dumps({"format": 999}).encode(), dtype=np.uint8)
    path.write_bytes(_saved(np.savez, header=header))
    with pytest.raises(DataError, match="has format 999, but this version reads formats 2 and 3"):
        _solve(Anderson(), 1e-3, path)


@pytest.fixture
def run_of_two(path):
    """The file of a run that was cut short in its second start, and what is in it."""
    _cut_short(Anderson(), 0.0, path, 8, n_init=2, max_iter=5)
    with np.load(path) as archive:
        return path, dict(archive)


def _go_on(path):
    return _solve(Anderson(), 0.0, path, n_init=2, max_iter=5)


def test_a_damaged_checkpoint_is_refused(run_of_two):
    path, arrays = run_of_two
    whole = path.read_bytes()
    cut = [whole[:length] for length in np.linspace(0, len(whole) - 1, 15).astype(int)]
    # In a packed one the decoder fails.
    packed = bytearray(_saved(np.savez_compressed, **arrays))
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        first = archive.getinfo("header.npy")
    begin = first.header_offset + 30 + len(first.filename) + 20
    packed[begin : begin + 40] = b"\xff" * 40
    for content in (*cut, packed):
        path.write_bytes(content)
        with pytest.raises(DataError, match=NO_CHECKPOINT):
            _go_on(path)


def _forged(path, arrays, *, sealed=True, **changes):
    """A checkpoint that says something else, with a checksum that fits, if it is sealed."""
    header = json.loads(arrays["header"].tobytes()) | changes
    others = {name: array for name, array in arrays.items() if name != "header"}
    digest = header.pop("digest")
    header["digest"] = digest_of(header, others) if sealed else digest
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    path.write_bytes(_saved(np.savez, header=text, **others))


def test_what_does_not_fit_its_checksum_is_refused(run_of_two):
    path, arrays = run_of_two
    half = {name: array for name, array in arrays.items() if not name.startswith("state.")}
    cut = {**arrays, "state.U": arrays["state.U"][:2]}
    for content, changes in ((half, {}), (cut, {}), (arrays, {"value": 1.0})):
        _forged(path, content, sealed=False, **changes)
        with pytest.raises(DataError, match="its content does not match its checksum"):
            _go_on(path)
    deep = np.full(100_000, ord("["), dtype=np.uint8)
    path.write_bytes(_saved(np.savez, **{**arrays, "header": deep}))
    with pytest.raises(DataError, match=NO_CHECKPOINT):
        _go_on(path)


def _nested(depth):
    return [_nested(depth - 1)] if depth else []


NONSENSE = [None, "x", -1, 10**400, np.inf, [], {"a": 1}, True, _nested(300)]
HEADER = ["number", "svd_value", "rng", "seconds", "passes", "finished", "about"]


@pytest.mark.parametrize("name", HEADER)
def test_a_forged_header_is_refused_or_does_no_harm(run_of_two, name):
    """Anybody can make a checksum that fits."""
    path, arrays = run_of_two
    refused = 0
    for value in NONSENSE:
        _forged(path, arrays, **{name: value})
        try:
            found = _go_on(path)
        except DataError as error:
            refused += "not a checkpoint" in str(error) or name == "about"
        else:
            assert 0 < found.solution.value < np.inf
            assert not np.isinf(found.svd_ratio)
    assert refused >= len(NONSENSE) - 1  # one of them may be what it should be


@pytest.mark.parametrize("name", ["value", "residual", "n_iter", "constants"])
def test_a_forged_best_is_refused(run_of_two, name):
    path, arrays = run_of_two
    best = json.loads(arrays["header"].tobytes())["best"]
    forged = [best | {name: value} for value in (None, "x", -1, [], np.inf, True)]
    for value in (*forged, {"value": 1.0}):
        _forged(path, arrays, best=value)
        with pytest.raises(DataError, match=NO_CHECKPOINT):
            _go_on(path)


@pytest.mark.parametrize("part", ["state.U", "best.U"])
def test_a_forged_subspace_is_refused(run_of_two, part):
    """It would be the result, if its value is said to be large."""
    path, arrays = run_of_two
    U, best = arrays[part], json.loads(arrays["header"].tobytes())["best"] | {"value": 1e9}
    other_numbers = [0 * U, 2 * U, np.full_like(U, np.nan), U.astype(complex), np.array(["x"])]
    for forged in (*other_numbers, U[:, :2], U[:5], U.T):
        _forged(path, {**arrays, part: forged}, best=best)
        with pytest.raises(DataError, match=r"not a checkpoint|other data"):
            _go_on(path)


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
            _go_on(path)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_solvers_of_others_say_what_is_missing(path):
    class Own:
        init, step = Alternating().init, Alternating().step

    assert _solve(Own(), 1e-3).solution.n_iter > 1
    with pytest.raises(TypeError, match="solver=Own has no method 'saved'"):
        _solve(Own(), 1e-3, path)


def test_the_last_checkpoint_stays_when_a_new_one_fails(tmp_path, path, monkeypatch):
    _cut_short(Anderson(), 1e-6, path, 3)
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint.np, "savez", full)
    with pytest.raises(OSError, match=r"run' cannot be written \(No space.*free some space"):
        _solve(Anderson(), 1e-6, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
