"""Test the compiled kernels with AddressSanitizer and UndefinedBehaviorSanitizer.

``python -m reliability.sanitize`` compiles the kernels with both, into a copy of the package, and
runs the tests of kernels, rows, codes and hostile data with it.  First it makes a kernel read out
of bounds: a run counts only if that is detected.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.table import ResultTable

__all__ = ["main"]

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "sanitize.csv"
COLUMNS = ("commit", "compiler", "instruction_sets", "tests", "passed", "failed", "reports")
TESTS = ("tests/kernels", "tests/rows/test_rows.py", "tests/codec", "tests/hostile")
LEFT_OUT = ("--ignore", "tests/kernels/test_compilers.py")  # it does not use the library
FLAGS = (
    *("-O1", "-g", "-std=gnu11", "-fno-math-errno", "-fPIC", "-shared", "-fno-omit-frame-pointer"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)
FAULT = re.compile("ERROR: |runtime error: |CHECK failed")

# The index is far outside, as no checked matrix can have it.
OUT_OF_BOUNDS = """
import numpy as np
from scipy import sparse
from sphericalpca.kernels import CompressedRows
X = sparse.csr_array(np.ones((3, 5)))
X.indices[4] = 500
CompressedRows(X).times(np.ones((5, 9)))
"""
SETS = "from sphericalpca.kernels import instruction_sets; print(*instruction_sets())"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests, write a row; the exit code is pytest's, or 1 if there were reports."""
    parser = argparse.ArgumentParser("python -m reliability.sanitize", description=__doc__)
    parser.add_argument("--compiler", default="gcc", help="gcc, whose libraries are preloaded")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the table that gets the row")
    parser.add_argument("tests", nargs="*", default=TESTS, help="which tests to run")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        surroundings = _sanitized(folder, args.compiler)
        _run("-c", OUT_OF_BOUNDS, surroundings=surroundings)
        if not _reports(folder):
            print("A read out of bounds was not noticed: is the library loaded?", file=sys.stderr)
            return 1
        kernels = _run("-c", SETS, surroundings=surroundings).stdout.split()
        options = ("-q", "-p", "no:cacheprovider", "--numprocesses", "auto", *LEFT_OUT, *args.tests)
        ran = _run("-m", "pytest", *options, surroundings=surroundings)
        reports = _reports(folder)
    passed, failed = (_count(word, ran.stdout) for word in ("passed", "failed"))
    row = {
        "commit": _output("git", "rev-parse", "--short", "HEAD"),
        "compiler": _output(args.compiler, "--version").splitlines()[0],
        "instruction_sets": " ".join(kernels),
        "tests": " ".join(args.tests),
        "passed": passed,
        "failed": failed,
        "reports": len(reports),
    }
    ResultTable(args.out, COLUMNS, ("compiler",)).replace([row])
    print(f"{passed} passed, {failed} failed, {len(reports)} reports of sanitizers: {args.out}")
    if ran.returncode or reports:
        print(ran.stdout[-4000:], *reports, sep="\n", file=sys.stderr)
    return ran.returncode or min(len(reports), 1)


def _sanitized(folder: Path, compiler: str) -> Mapping[str, str]:
    """A copy of the package with such kernels, and the environment in which it is imported."""
    package = folder / "site" / "sphericalpca"
    ignored = shutil.ignore_patterns("libkernels.*", "__pycache__")
    shutil.copytree(ROOT / "src" / "sphericalpca", package, ignore=ignored)
    sources = sorted(map(str, package.glob("kernels/*.c")))
    library = package / "kernels" / "libkernels.c.so"
    subprocess.run([compiler, *FLAGS, "-o", str(library), *sources, "-lm"], check=True)
    common = f"log_path={folder / 'report'}"
    # The second for exceptions of other libraries, which the first passes on.
    preloaded = (f"-print-file-name={name}.so" for name in ("libasan", "libstdc++"))
    return {
        "PYTHONPATH": str(package.parent),
        "LD_PRELOAD": " ".join(_output(compiler, option) for option in preloaded),
        # Python keeps memory until it exits; tests request more memory than there is.
        "ASAN_OPTIONS": f"{common}:detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
        "OPENBLAS_NUM_THREADS": "1",
        "SCIPY_ARRAY_API": "1",
    }


def _run(*words: str, surroundings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    env = {**os.environ, **surroundings}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def _reports(folder: Path) -> list[str]:
    """Reports of sanitizers since the last call.

    Requests for too much memory are expected, because tests make them.
    """
    paths = sorted(folder.glob("report.*"))
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    for path in paths:
        path.unlink()
    return [text[:4000] for text in texts if FAULT.search(text)]


def _count(word: str, text: str) -> int:
    found = re.findall(rf"(\d+) {word}", text)
    return int(found[-1]) if found else 0


def _output(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
