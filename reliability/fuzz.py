"""Coverage-guided fuzzing of every file reader: ``python -m reliability.fuzz TARGET --runs N``.

Requires atheris (``pip install atheris``, Python 3.11 to 3.13).  One process fuzzes; when an
input terminates it (a crash in a library, a hang, too much memory), that input is kept and another
process continues.  Exceptions other than documented errors are kept too, one input for each
place that raised one, and do not stop it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from datetime import date
from pathlib import Path
from typing import Any

# Imports no module under instrumentation.
from sphericalpca.registry.formats import FORMATS

__all__ = ["main"]

NAMES = [*FORMATS, "model", "checkpoint", "table", "corpus"]
RESULTS = Path(__file__).parent / "results" / "fuzz.csv"
KEY = ("target", "date", "seed")
COLUMNS = (*KEY, "runs", "seconds", "restarts", "coverage_start", "coverage", "corpus")

FINDINGS = Path("fuzz-findings")
# Limits for an input, a run, and the process.
LONGEST, SECONDS, MEGABYTES = 8192, 20, 3000
# Instrumented modules: the readers, not the arithmetic.
WATCHED = [
    *("sphericalpca.rows.sources", "sphericalpca.rows.reading", "sphericalpca.rows.streamed"),
    *("sphericalpca.modelfile", "sphericalpca.estimators.fitted"),
    *("sphericalpca.solvers.checkpoint", "sphericalpca.datasets", "numpy.lib._format_impl"),
]
# A target that crashes at every start would be restarted forever.
RESTARTS = 2000


def main(arguments: list[str] | None = None) -> int:
    """Fuzz one target, and record the outcome."""
    options = _options(arguments)
    if options.read is not None:
        return _read(options.target, options.read)
    if options.inside is not None:
        _fuzz(options.target, options.inside, options.findings, options.libfuzzer)
        return 0
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        corpus = options.corpus or Path(folder) / "corpus"
        row = _supervise(options, corpus, Path(folder))
    return _note(options, row)


def _note(options: argparse.Namespace, row: dict[str, Any]) -> int:
    # Imported late: the fuzzer imports the package itself, with instrumentation.
    from benchmarks.table import ResultTable  # noqa: PLC0415

    found = sorted(options.findings.glob(f"{options.target}-*"))
    ResultTable(options.results, (*COLUMNS, "findings"), KEY).replace(
        [{**row, "findings": len(found)}]
    )
    for path in found:
        print(path)
    return 1 if found else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m reliability.fuzz", description=__doc__)
    parser.add_argument("target", choices=NAMES)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="keep what was learned, and begin with it")
    parser.add_argument("--findings", type=Path, default=FINDINGS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--read", type=Path, nargs="+", metavar="FILE", help="only read inputs")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--libfuzzer", nargs="*", default=[], help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _memory() -> str | None:
    """A folder in memory, if available."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


# ------------------------------------------------------------------------------- around the fuzzer


def _supervise(options: argparse.Namespace, corpus: Path, folder: Path) -> dict[str, Any]:
    """Start the fuzzer until all runs are made."""
    _write_seeds(options.target, corpus)
    options.findings.mkdir(parents=True, exist_ok=True)
    began, runs, restarts, coverage = time.perf_counter(), 0, 0, [0, 0]
    while runs < options.runs and restarts < RESTARTS:
        seed = options.seed + restarts
        made, first, last = _run_fuzzer(options, corpus, folder, options.runs - runs, seed)
        runs += made
        coverage = [coverage[0] or first, max(coverage[1], last)]
        if runs < options.runs:
            restarts += 1
    seconds = round(time.perf_counter() - began)
    kept = sum(1 for _ in corpus.iterdir())
    today = date.today().isoformat()
    values = (options.target, today, options.seed, runs, seconds, restarts, *coverage, kept)
    return dict(zip(COLUMNS, values, strict=True))


def _write_seeds(target: str, corpus: Path) -> None:
    from reliability.seeds import seeds  # noqa: PLC0415 - the fuzzer imports it instrumented

    corpus.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about unfinished fits
        contents = seeds(target)
    for content in contents:
        (corpus / hashlib.sha1(content, usedforsecurity=False).hexdigest()).write_bytes(content)


def _run_fuzzer(
    options: argparse.Namespace, corpus: Path, folder: Path, runs: int, seed: int
) -> tuple[int, int, int]:
    """Runs made, and the coverage at their beginning and end."""
    flags = [
        f"runs={runs}",
        f"seed={seed}",
        f"max_len={LONGEST}",
        f"timeout={SECONDS}",
        f"rss_limit_mb={MEGABYTES}",
        f"artifact_prefix={options.findings}/{options.target}-",
        "print_final_stats=1",
    ]
    command = [sys.executable, "-m", "reliability.fuzz", options.target, "--inside", str(folder)]
    command += ["--findings", str(options.findings), "--libfuzzer", str(corpus), *flags]
    # Threads of BLAS would compete for cores.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    log = folder / "log"
    with log.open("wb") as file:
        subprocess.run(command, env=environment, stdout=file, stderr=file, check=False)
    text = log.read_text(errors="replace")
    (options.findings / f"last-{options.target}.log").write_text(text[-20_000:])
    steps = [int(number) for number in re.findall(r"^#(\d+)", text, re.MULTILINE)]
    final = re.findall(r"number_of_executed_units: (\d+)", text)
    cover = [int(number) for number in re.findall(r"cov: (\d+)", text)] or [0]
    made = int(final[-1]) if final else max(steps, default=0)
    if made == 0:
        raise SystemExit(f"The fuzzer did not start:\n{text[-3000:]}")
    return made, cover[0], cover[-1]


# ------------------------------------------------------------------------------- inside the fuzzer


def _fuzz(target: str, folder: Path, findings: Path, flags: list[str]) -> None:
    import atheris  # noqa: PLC0415 - wanted by this process only

    with atheris.instrument_imports(include=WATCHED):
        from reliability.targets import (  # noqa: PLC0415 - instrumented on import
            TARGETS,
            judge,
            warnings_are_errors,
        )
    reader = TARGETS[target]
    path = folder / f"input{reader.suffix}"
    known: set[str] = {file.name for file in findings.iterdir()}

    def try_input(data: bytes) -> None:
        try:
            judge(reader, data, path)
        except Exception as error:
            _keep(error, data, target, findings, known)

    def mutate(data: bytes, size: int, seed: int) -> bytes:
        return reader.mutate(data, size, random.Random(seed), atheris.Mutate)[:size]

    warnings_are_errors()
    corpus, *settings = flags
    arguments = [sys.argv[0], corpus, *(f"-{setting}" for setting in settings)]
    atheris.Setup(arguments, try_input, custom_mutator=mutate)
    atheris.Fuzz()


def _keep(error: Exception, data: bytes, target: str, findings: Path, known: set[str]) -> None:
    """One input for each kind of error and the place that raised it."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "atheris" not in frame.name
    ]
    ours = [frame for frame in frames if "sphericalpca" in frame.filename] or frames
    places = "-".join(f"{Path(f.filename).stem}.{f.lineno}" for f in (ours[-1], frames[-1]))
    name = f"{target}-{type(error).__name__}-{places}"
    if name not in known:
        known.add(name)
        (findings / name).write_bytes(data)
        text = "".join(traceback.format_exception(error))
        (findings / f"why-{name}.txt").write_text(text)


def _read(target: str, files: list[Path]) -> int:
    """Print the outcome for each file."""
    from reliability.targets import TARGETS, judge, warnings_are_errors  # noqa: PLC0415

    warnings_are_errors()
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        reader = TARGETS[target]
        path = Path(folder) / f"input{reader.suffix}"
        for file in files:
            print(judge(reader, file.read_bytes(), path))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
