"""The program starts fast: slow modules are imported only when they are needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from sphericalpca.cli.app import COMMANDS

SLOW = {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "pyarrow", "torch"}


def python(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


START = """
import atexit, sys
atexit.register(lambda: print("loaded:", *sorted(sys.modules)))
from sphericalpca.__main__ import main
for words in %r:
    try: main(words)
    except SystemExit: pass
"""


def loaded_by(*words):
    *_, loaded = python(START % (words,)).splitlines()
    assert loaded.startswith("loaded: ")
    return set(loaded.split())


def test_help_and_version_load_nothing_slow():
    assert not SLOW & loaded_by(["--help"], *([name, "-h"] for name in COMMANDS))
    loaded = loaded_by(["--version"])
    assert "sphericalpca.cli.app" in loaded
    assert not {f"sphericalpca.cli.{name}" for name in COMMANDS} & loaded


@pytest.mark.parametrize(
    ("words", "expected"), [("", [*COMMANDS]), ("fit --comp", ["--components"])]
)
def test_completion_knows_names_and_loads_nothing_slow(words, expected):
    variables = {"COMP_WORDS": f"sphericalpca {words}", "COMP_CWORD": str(len(words.split()) or 1)}
    variables["_SPHERICALPCA_COMPLETE"] = "bash_complete"
    *found, loaded = python(START % ([[]],), **variables).splitlines()
    assert sorted(line.partition(",")[2] for line in found) == sorted(expected)
    assert not SLOW & set(loaded.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_lines_for_completion_in_the_help_work(run, shell):
    assert f"_SPHERICALPCA_COMPLETE={shell}_source sphericalpca" in run("--help").stdout
    if shutil.which("bash") is None:
        pytest.skip("no bash, which click asks for its version")
    script = python(START % ([[]],), _SPHERICALPCA_COMPLETE=f"{shell}_source")
    assert f"_SPHERICALPCA_COMPLETE={shell}_complete" in script
    if shell == "bash":
        lines = script.partition("loaded:")[0]
        subprocess.run(["bash", "-n"], input=lines, text=True, check=True)
