"""Kill commands with SIGKILL at random moments, then run them again.

``python -m reliability.kill`` starts each command fifty times, kills it and all its
processes, and checks:

- under the final name there is nothing, or the complete output;
- the next run succeeds, its result equals that of an uninterrupted run, and no temporary file
  is left beside it.

Every second kill waits until the output's temporary file has content: writing is a small part
of a run, and the most fragile one.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.machine import made_with
from benchmarks.table import ResultTable
from sphericalpca import SphericalPCA

__all__ = ["VICTIMS", "Victim", "inputs", "kill_rounds"]

COLUMNS = ("command", "rounds", "killed", "finished", "whole_after_kill", "faults", "made_with")

# Columns that differ between equal runs: times.
CLOCKS = ("seconds", "cluster_seconds")

State = dict[str, bytes]


def _file(folder: Path, name: str) -> State:
    path = folder / name
    return {name: path.read_bytes()} if path.exists() else {}


def _folder(folder: Path, name: str) -> State:
    inside = sorted(path for path in (folder / name).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in inside}


def _model(folder: Path, name: str) -> State:
    """A model's numbers; its file also holds seconds."""
    path = folder / name
    if not path.exists():
        return {}
    return {name: np.round(SphericalPCA.load(path).components_, 5).tobytes()}


def _rows(folder: Path, name: str) -> State:
    """The rows of an experiment without its clocks, and the names of all files beside."""
    state = dict.fromkeys(_folder(folder, name), b"")
    for path in (folder / name).rglob("rows.csv"):
        rows = list(csv.DictReader(io.StringIO(path.read_text())))
        kept = [{k: v for k, v in row.items() if k not in CLOCKS} for row in rows]
        lines = sorted(repr(sorted(row.items())) for row in kept)
        state[str(path.relative_to(folder))] = "\n".join(lines).encode()
    return state


class Victim(NamedTuple):
    """A command, and a function to read its output.

    Attributes
    ----------
    arguments : str
        Run in a folder inside that of the inputs.
    output : str
        The final name.
    read : callable
        The output without the parts that differ between runs.
    partial : bool
        Whether a part may be left after a kill, for the next run to resume from.
    program : str
        The package whose command it is.
    """

    arguments: str
    output: str
    read: Callable[[Path, str], State] = _file
    partial: bool = False
    program: str = "sphericalpca"

    @property
    def command(self) -> list[str]:
        """The command line."""
        return [sys.executable, "-m", self.program, *self.arguments.split()]


VICTIMS = {
    "fit": Victim(
        "fit ../rows.npy -r 8 -o model.st --checkpoint run.ckpt --solver alternating "
        "--tol 1e-30 --max-iter 60 --quiet --force",
        "model.st",
        _model,
    ),
    "transform": Victim("transform ../model.st ../rows.npy -o out.npy --quiet --force", "out.npy"),
    "export to a file": Victim("export ../model.st --to npz -o out.npz --force", "out.npz"),
    "export to a folder": Victim(
        "export ../model.st --to sentence-transformers -o out --force", "out", _folder
    ),
    "reproduce": Victim(
        "reproduce figures --quick --embedded --jobs 1 --out out",
        "out",
        _rows,
        partial=True,
        program="paper",
    ),
}


def inputs(folder: Path, rows: int = 200_000, features: int = 64) -> None:
    """The inputs of the commands."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features), dtype=np.float32)
    X *= np.linspace(1.3, 0.7, features, dtype=np.float32)
    np.save(folder / "rows.npy", X)
    SphericalPCA(8, tol=1e-2).fit(X[:2000]).save(folder / "model.st")


def kill_rounds(victim: Victim, folder: Path, rounds: int, seed: int = 0) -> Counter[str]:
    """Kill a command repeatedly; return counts of outcomes, and of faults by name."""
    rng = np.random.default_rng(seed)
    began = time.perf_counter()
    wanted, names = _undisturbed(victim, folder / "reference")
    seconds = time.perf_counter() - began
    counts: Counter[str] = Counter()
    for number in range(rounds):
        here = folder / f"round-{number}"
        here.mkdir()
        delay = rng.uniform(0, seconds)
        counts["killed" if _killed(victim, here, delay, at_sight=number % 2 == 1) else "done"] += 1
        found = victim.read(here, victim.output)
        counts["whole"] += found == wanted
        if found not in ({}, wanted) and not victim.partial:
            counts["fault: a part under the final name"] += 1
        code, text = _run(victim, here)
        if code != 0:
            counts[f"fault: the next run failed: {text.strip()[-200:]}"] += 1
        elif victim.read(here, victim.output) != wanted:
            counts["fault: the next run has another answer"] += 1
        elif left := _names(here) - names:
            counts[f"fault: left behind: {sorted(left)}"] += 1
    return counts


def _undisturbed(victim: Victim, folder: Path) -> tuple[State, set[str]]:
    folder.mkdir()
    code, text = _run(victim, folder)
    if code != 0:
        raise RuntimeError(f"{victim.arguments!r} failed without any kill: {text}")
    return victim.read(folder, victim.output), _names(folder)


def _run(victim: Victim, folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        victim.command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},  # paper is not installed
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def _killed(victim: Victim, folder: Path, delay: float, *, at_sight: bool) -> bool:
    """Whether it was still running; all processes it started are killed with it."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        victim.command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},  # paper is not installed
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
    )
    if at_sight:
        while process.poll() is None and not _is_writing(victim, folder):
            time.sleep(0.0005)
        time.sleep(delay % 0.02)
    else:
        time.sleep(delay)
    running = process.poll() is None
    if running:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return running


def _is_writing(victim: Victim, folder: Path) -> bool:
    """Whether a temporary file has content; an empty one only tests permissions."""
    for path in folder.rglob(".*" if victim.partial else f".{victim.output}.*"):
        with suppress(OSError):  # removed meanwhile
            if path.is_dir() or path.stat().st_size > 0:
                return True
    return False


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def main(arguments: list[str] | None = None) -> int:
    """Kill each command, and write a row for it."""
    parser = argparse.ArgumentParser(prog="python -m reliability.kill", description=__doc__)
    parser.add_argument("commands", nargs="*", default=list(VICTIMS), metavar="COMMAND")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--out", type=Path, default=Path("reliability/results"))
    asked = parser.parse_args(arguments)
    table = ResultTable(asked.out / "kill.csv", COLUMNS, ("command",))
    faults = 0
    for name in asked.commands:
        with tempfile.TemporaryDirectory() as temporary:
            inputs(Path(temporary), asked.rows)
            counts = kill_rounds(VICTIMS[name], Path(temporary), asked.rounds)
        found = {what: n for what, n in counts.items() if what.startswith("fault")}
        faults += sum(found.values())
        print(f"{name}: {dict(counts)}", flush=True)
        row = {
            "command": name,
            "rounds": asked.rounds,
            "killed": counts["killed"],
            "finished": counts["done"],
            "whole_after_kill": counts["whole"],
            "faults": sum(found.values()),
            "made_with": made_with(),
        }
        table.replace([row])
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
