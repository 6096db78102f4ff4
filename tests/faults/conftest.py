"""The program as its users start it, on small inputs."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
from types import SimpleNamespace

import pytest

from reliability.kill import inputs


def obey_permissions():
    """Before a program starts: the superuser, too, may write only where the folder says so."""
    if os.geteuid() == 0 and sys.platform == "linux":
        drop, override = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
        ctypes.CDLL(None).prctl(drop, override, 0, 0, 0)


def start(folder, *arguments, program="sphericalpca", largest_file=None):
    """Start the program; `largest_file` is as many bytes as a file may have."""

    def limit():
        obey_permissions()
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    return subprocess.Popen(
        [sys.executable, "-B", "-m", program, *map(str, arguments)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},  # paper is not installed
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,  # noqa: PLW1509 - no threads here
    )


def run(folder, *arguments, **options):
    """What became of the program: its exit code, and the lines of its errors."""
    process = start(folder, *arguments, **options)
    _, errors = process.communicate(timeout=300)
    return SimpleNamespace(code=process.returncode, lines=errors.strip().splitlines())


def check_refusal(done, *words):
    """It failed with one line, which has these words in it."""
    assert done.code not in (0, None)
    assert done.code > 0, "ended by a signal"
    assert len(done.lines) == 1, done.lines
    for word in words:
        assert word in done.lines[0]


@pytest.fixture(scope="session")
def given(tmp_path_factory):
    """A folder with rows.npy (500 x 64 float32) and model.st."""
    folder = tmp_path_factory.mktemp("given")
    inputs(folder, rows=500)
    return folder


@pytest.fixture
def commands(given):
    """What writes a file: arguments without the output, and a name for the output."""
    rows, model = given / "rows.npy", given / "model.st"
    return {
        "fit": (["fit", rows, "-r", 32, "--tol", 0.5, "--quiet"], "model.st"),
        "transform": (["transform", model, rows, "--quiet"], "out.npy"),
        "export": (["export", model, "--to", "json"], "out.json"),
        "export to a folder": (["export", model, "--to", "sentence-transformers"], "out"),
    }
