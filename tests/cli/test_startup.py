"""The program starts at once: what is slow to import waits until it is needed."""

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
atexit.register(lambda: print("loaded:", *sorted({m.partition(".")[0] for m in sys.modules})))
from sphericalpca.__main__ import main
main(%r)
"""


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["fit", "--help"], ["demo", "-h"]])
def test_help_and_version_load_nothing_slow(words):
    *_, loaded = python(START % words).splitlines()
    assert loaded.startswith("loaded: ")
    assert "click" in loaded.split()
    assert not SLOW & set(loaded.split())


def test_completion_knows_the_commands_and_loads_nothing_slow():
    variables = {"COMP_WORDS": "sphericalpca ", "COMP_CWORD": "1"}
    out = python(START % [], _SPHERICALPCA_COMPLETE="bash_complete", **variables)
    *found, loaded = out.splitlines()
    assert {line.partition(",")[2] for line in found} == set(COMMANDS)
    assert not SLOW & set(loaded.split())


def test_completion_of_options():
    variables = {"COMP_WORDS": "sphericalpca fit --comp", "COMP_CWORD": "2"}
    out = python(START % [], _SPHERICALPCA_COMPLETE="bash_complete", **variables)
    assert out.splitlines()[0] == "plain,--components"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_lines_for_completion_in_the_help_work(run, shell):
    help_text = run("--help").stdout
    assert f"_SPHERICALPCA_COMPLETE={shell}_source sphericalpca" in help_text
    if shutil.which("bash") is None:
        pytest.skip("no bash, which click asks for its version")
    script = python(START % [], _SPHERICALPCA_COMPLETE=f"{shell}_source")
    assert f"_SPHERICALPCA_COMPLETE={shell}_complete" in script
    if shell == "bash":
        lines = script.partition("loaded:")[0]
        subprocess.run(["bash", "-n"], input=lines, text=True, check=True)
