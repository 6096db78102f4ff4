"""The kernels under sanitizers: a few tests, and a planted fault that must be noticed."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys

import pytest

from reliability import sanitize

pytestmark = [
    pytest.mark.slow("compiled with sanitizers"),
    pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="libraries are preloaded as on Linux"),
    pytest.mark.skipif(not (sanitize.ROOT / "src").is_dir(), reason="the sources are not here"),
]


@pytest.fixture(autouse=True)
def _sanitizers_are_installed():
    found = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True)
    if not found.startswith("/"):
        pytest.skip("gcc has no AddressSanitizer here")


def test_a_run_is_recorded(tmp_path):
    out = tmp_path / "rows.csv"
    chosen = "tests/kernels/test_rows.py::test_empty_and_single"
    assert sanitize.main(["--out", str(out), chosen]) == 0
    with out.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["tests"] == chosen
    assert int(row["passed"]) >= 12
    assert (row["failed"], row["reports"]) == ("0", "0")


def test_a_run_in_which_nothing_can_be_noticed_does_not_count(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sanitize, "OUT_OF_BOUNDS", "print('all is well')")
    out = tmp_path / "rows.csv"
    assert sanitize.main(["--out", str(out), "tests/kernels/test_rows.py"]) == 1
    assert "was not noticed" in capsys.readouterr().err
    assert not out.exists()
