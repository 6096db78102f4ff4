"""Checkpoints of runs, in one file.

The file is an ``.npz`` archive without pickles: a header in JSON, the solver's state as
arrays, the history, and the best result of earlier starts.  It is written atomically.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

import numpy as np

from sphericalpca.exceptions import DataError, Explained, Parameter, printable
from sphericalpca.files import check_writable, replacing, resolved
from sphericalpca.iterate import Resumable, Run, Solution, Start, State, StateT, StopReason
from sphericalpca.linalg import Array
from sphericalpca.problem import Problem
from sphericalpca.registry.solvers import SOLVERS, with_current_names
from sphericalpca.solvers.checkpoint_checks import (
    check_arrays,
    check_header,
    check_sizes,
    check_subspace,
    digest_of,
    other_kind,
)

__all__ = ["Checkpoint", "MultiStart", "check_checkpoint_path"]

# Increased when older versions cannot read the files of this one.
FORMAT = 3
READABLE = (2, 3)  # version 0.1 wrote format 2

# Seconds between two writes, or, if writing is slow, this many times as long as a write takes.
INTERVAL = 1.0
PATIENCE = 20

# Named starts.
INITS = ("auto", "svd", "random")

# Errors from checkpoints that are complete, but were written by another program.
UNFIT = (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError)

UNREADABLE = "it lacks parts that a checkpoint has, or they cannot be read"

# Largest relative difference of f, at a subspace, between two reads of the same data.
SAME_VALUE = {"float32": 1e-5, "float64": 1e-9}


def check_checkpoint_path(path: Any) -> None:
    """Refuse a checkpoint that cannot be written, or a file of another kind, before a long fit.

    Its folder is created if necessary.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"checkpoint is a {type(path).__name__}, but must be the path of a file.")
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"checkpoint {str(path)!r} is a folder: name a file in it.")
    if place.exists() and not place.is_file():  # reading a pipe would block
        raise _refusal(place, "it is a device, pipe or socket")
    with _writing(place):
        folder = resolved(place).parent
        folder.mkdir(parents=True, exist_ok=True)
        check_writable(folder / place.name)
    if place.is_file():
        with place.open("rb") as file:
            kind = other_kind(file)
        if kind is not None:
            raise _refusal(place, kind)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Add the file and a remedy to errors of the system."""
    try:
        yield
    except Explained:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(
            f"checkpoint {str(path)!r} cannot be written ({reason}): free some space, "
            "get write permission, or choose another folder."
        ) from error


@dataclass
class MultiStart(Generic[StateT]):
    """A search from several starts: the current run, and the best result so far."""

    number: int = 0  # of the start that the run began from
    run: Run[StateT] | None = None  # None before the first start
    best: Solution[State] | None = None  # of the starts before
    svd_value: float = math.nan  # f at the SVD start, NaN if no run began there
    at_svd: bool = False  # not in the file, which has `svd_value`
    found_at_svd: float | None = None  # f at the SVD, if the run began at a better start
    rng: dict[str, Any] = field(default_factory=dict)  # state after this start was drawn
    seconds: float = 0.0

    def begin(self, number: int, start: Start | Run[StateT], rng: np.random.Generator) -> None:
        """Begin a run at a start, or resume the run in the file."""
        self.number, self.rng = number, dict(rng.bit_generator.state) if rng else {}
        self.at_svd = isinstance(start, Start) and start.is_svd
        self.found_at_svd = start.svd_value if isinstance(start, Start) else None

    def went_on(self, run: Run[StateT], seconds: float) -> None:
        """Record an iteration, or the beginning of a run."""
        self.run, self.seconds = run, seconds
        if self.at_svd:
            self.svd_value = run.start_value if self.found_at_svd is None else self.found_at_svd


class Checkpoint:
    """A file that holds a search from several starts.

    Parameters
    ----------
    path : str or Path
    about : mapping of str to JSON values
        Parameters of the fit, shape and type of the data.  Files of other fits raise an error.
    """

    def __init__(self, path: str | Path, about: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.about = json.loads(json.dumps(dict(about)))
        self._next = -math.inf

    def load(
        self,
        problem: Problem,
        solver: Resumable[StateT],
        n_components: int,
        rng: np.random.Generator,
    ) -> MultiStart[StateT] | None:
        """The search in the file, and its random numbers; None if there is no file."""
        if not self.path.exists():
            return None
        header, arrays = self._read()
        try:
            self._check_about(header["about"])
            check_header(header)
            arrays = with_current_names(arrays, header["about"].get("solver", ""))
            check_arrays(arrays)
            rows = problem.rows
            rows.passes, rows.flops = header["passes"], header["flops"]
            state = solver.resume(problem, _under("state", arrays))
            self._check_value(state.value, header["value"], rows.dtype.name)
            best = _solution(header["best"], _under("best", arrays)) if header["best"] else None
            for found in (state, best):
                if found is not None:
                    check_subspace(found.U, (rows.shape[1], n_components))
            history = _under("history", arrays)
            columns = [column.tolist() for column in history.values()]
            record = [dict(zip(history, row, strict=True)) for row in zip(*columns, strict=True)]
            run = Run(state, header["start_value"], record, header["arrived"], header["finished"])
            rng.bit_generator.state = header["rng"]
            places = {name: header[name] for name in ("number", "svd_value", "rng", "seconds")}
            return MultiStart(run=run, best=best, **places)
        except DataError:
            raise
        except UNFIT as error:
            raise _refusal(self.path, "it lacks data that this fit needs to resume") from error

    def save(self, problem: Problem, solver: Resumable[StateT], search: MultiStart[StateT]) -> None:
        """Write the search, unless it was written a moment ago."""
        run, now = search.run, time.perf_counter()
        assert run is not None
        if now < self._next and not run.finished:
            return
        header = {
            "format": FORMAT,
            "about": self.about,
            "passes": problem.rows.passes,
            "flops": problem.rows.flops,
            "value": run.state.value,
            "start_value": run.start_value,
            "arrived": run.arrived,
            "finished": run.finished,
            "number": search.number,
            "svd_value": search.svd_value,
            "rng": search.rng,
            "seconds": search.seconds,
            "best": _facts(search.best),
        }
        names = run.record[0] if run.record else ()
        history = {name: np.array([row[name] for row in run.record]) for name in names}
        arrays = {
            **_over("state", solver.saved(run.state)),
            **_over("history", history),
            **_over("best", _arrays(search.best)),
        }
        self._write(header, arrays)
        self._next = now + max(INTERVAL, PATIENCE * (time.perf_counter() - now))

    def _write(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        header["digest"] = digest_of(header, arrays)
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        with _writing(self.path):
            resolved(self.path).parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path) as temporary, temporary.open("wb") as file:
                np.savez(file, header=text, **arrays)

    def _read(self) -> tuple[dict[str, Any], dict[str, Array]]:
        # Opened here: np.load leaves unreadable files open, and missing permission is not damage.
        with self.path.open("rb") as file:
            try:
                check_sizes(file)
                with np.load(file, allow_pickle=False) as archive:
                    arrays = {name: archive[name] for name in archive.files}
                header = json.loads(arrays.pop("header").tobytes())
                version, digest = header["format"], header.pop("digest", None)
                sound = version not in READABLE or digest == digest_of(header, arrays)
            except Exception:  # decoders fail on a damaged file in many ways
                raise _refusal(self.path, other_kind(file) or UNREADABLE) from None
        if not sound:
            raise _refusal(self.path, "its content does not match its checksum")
        if version not in READABLE:
            raise DataError(
                f"checkpoint {self._name} has format {printable(version, 20)}",
                f"this version reads formats {READABLE[0]} and {READABLE[1]}",
                "remove it, or choose another file",
            )
        return header, arrays

    def _check_about(self, theirs: dict[str, Any]) -> None:
        for name, ours in self.about.items():
            there = theirs.get(name)
            if there != ours:
                raise DataError(
                    (f"checkpoint {self._name} was made with ", _quoted(name, there)),
                    ("this fit has ", _quoted(name, ours)),
                    "remove it to start anew, or choose another file",
                )

    def _check_value(self, value: float, theirs: float, dtype: str) -> None:
        if not math.isclose(value, theirs, rel_tol=SAME_VALUE[dtype]):
            raise DataError(
                f"checkpoint {self._name} was made from other data (at its subspace f was "
                f"{theirs:.9g}, and is {value:.9g} here)",
                remedy="remove it, or choose another file",
            )

    @property
    def _name(self) -> str:
        return repr(str(self.path))


def _refusal(path: Path, reason: str) -> DataError:
    # It may be any file, even the user's data, so do not advise to remove it first.
    return DataError(
        f"{str(path)!r} is not a checkpoint of sphericalpca, or is damaged ({reason})",
        remedy="choose another file, or delete it if you do not need it",
    )


def _quoted(name: str, value: Any) -> Parameter | str:
    """A setting of a fit for a message; a `Parameter` where users can pass that value."""
    if name == "solver":
        defaults = {repr(entry.load()()): entry.name for entry in SOLVERS.values()}
        value = defaults.get(value, value) if isinstance(value, str) else value
    passed = isinstance(value, str) and (value in SOLVERS or value in INITS)
    if passed or (isinstance(value, int) and abs(value) < 10**9):
        return Parameter(name, value)
    return f"{name}={printable(value, 200)}"


def _under(prefix: str, arrays: dict[str, Array]) -> dict[str, Array]:
    start = f"{prefix}."
    return {name.removeprefix(start): a for name, a in arrays.items() if name.startswith(start)}


def _over(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def _facts(best: Solution[State] | None) -> dict[str, Any] | None:
    """The parts of a solution that are not arrays."""
    if best is None:
        return None
    numbers = ("value", "start_value", "residual", "n_iter", "constants")
    return {name: getattr(best, name) for name in numbers} | {"stop_reason": str(best.stop_reason)}


def _arrays(best: Solution[State] | None) -> dict[str, Array]:
    return {} if best is None else {"U": best.U, **_over("history", best.history)}


def _solution(facts: dict[str, Any], arrays: dict[str, Array]) -> Solution[State]:
    reason = StopReason(facts.pop("stop_reason"))
    history = _under("history", arrays)
    return Solution(U=arrays["U"], stop_reason=reason, history=history, **facts)
