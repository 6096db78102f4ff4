"""Every example of the gallery runs to its end, without a warning, and draws."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))

# Pictures are drawn and counted, not shown.
# Not by the option -W, at which old versions of pyparsing turn on warnings of their own.
RUN = """
import warnings
warnings.simplefilter("error")
import runpy, sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
plt.show = lambda: None
runpy.run_path(sys.argv[1], run_name="__main__")
for number in plt.get_fignums():
    plt.figure(number).canvas.draw()
print(len(plt.get_fignums()))
"""


@pytest.mark.slow("experiment")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws(example, tmp_path):
    pytest.importorskip("matplotlib")
    found = subprocess.run(
        [sys.executable, "-c", RUN, str(example)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert found.returncode == 0, found.stderr
    assert int(found.stdout.split()[-1]) >= 1
    assert not list(tmp_path.iterdir()), "an example leaves files behind"


def test_there_are_at_least_eight_and_none_asks_for_a_download():
    assert len(EXAMPLES) >= 8
    for example in EXAMPLES:
        assert not re.search("fetch_|urlopen", example.read_text(encoding="utf-8")), example.name
