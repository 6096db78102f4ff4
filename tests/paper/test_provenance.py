"""Rows say what they were made with, here and where there is no clone."""

from __future__ import annotations

import platform
import re
import subprocess

import numpy as np

from benchmarks import machine
from paper.provenance import ROOT, commit, made_with, processor


def test_the_facts_are_commit_processor_blas_and_versions():
    made_with.cache_clear()
    facts = made_with().split("; ")
    assert facts[0] == f"commit {commit(ROOT)}"
    assert f"numpy {np.__version__}" in facts
    assert f"python {platform.python_version()}" in facts
    assert re.search(r"(openblas|mkl|blis) \S+ \(\w+\)", made_with())
    assert re.search(r"kernels \w+", made_with())
    assert not re.search(r"/|\\", made_with()), "no paths"
    assert platform.node() not in made_with()
    quick = machine.made_with(quick=True)
    assert quick.startswith(f"{made_with()}; BLAS threads ")
    assert quick.endswith(machine.QUICK)


def _git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


def test_a_commit_is_that_of_this_clone_and_changes_are_told(tmp_path, monkeypatch):
    clone = tmp_path / "clone"
    clone.mkdir()
    _git(clone, "init", "--quiet")
    (clone / "file").write_text("one")
    _git(clone, "add", "file")
    _git(clone, "commit", "--quiet", "--message=One", "--no-verify")
    found = commit(clone)
    assert re.fullmatch("[0-9a-f]{12}", found)
    (clone / "new").write_text("not tracked")
    assert commit(clone) == found
    (clone / "file").write_text("two")
    assert commit(clone) == f"{found}-dirty"
    unpacked = clone / "sdist"
    unpacked.mkdir()
    assert commit(unpacked) == "unknown", "not the commit of what it lies in"
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert commit(clone) == "unknown"


def test_the_processor_is_named_as_far_as_the_system_tells(tmp_path):
    facts = tmp_path / "cpuinfo"
    facts.write_text("processor\t: 0\nmodel name\t: A  CPU @ 2 GHz\nflags\t: fpu\n")
    assert processor(facts) == "A CPU @ 2 GHz"
    facts.write_text("processor\t: 0\n")
    assert processor(facts) == processor(tmp_path / "nowhere") != ""
