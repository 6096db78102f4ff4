"""The first minute."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from sphericalpca.cli import demo as module
from sphericalpca.datasets import load_bundled


@pytest.fixture
def small(monkeypatch):
    """One small set of rows in place of three."""
    X = load_bundled("digits")[0][:300]
    monkeypatch.setattr(module, "_data", lambda: iter([("digits", X, 5)]))
    monkeypatch.setattr(module, "QUERIES", 20)


def test_three_kinds_of_rows():
    names, data, dimensions = zip(*module._data(), strict=True)
    assert [name.split()[0] for name in names] == ["digits", "docstrings", "embedding-like"]
    assert all(r < min(X.shape) for X, r in zip(data, dimensions, strict=True))


def test_table_picture_and_vectors_to_go_on_with(run, small, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "new" / "demo"
    result = run("demo", "--out", out)
    assert result.exit_code == 0, result.stderr
    header, line, *_ = result.stdout.splitlines()
    assert header.split("  ")[0] == "data"
    assert line.split()[:5] == ["digits", "300", "64", "to", "5"]
    kept = [float(number) for number in line.split()[-3:]]
    assert all(0 < share <= 1 for share in kept)
    assert str(out / "vectors.npy") in result.stdout
    assert {path.name for path in out.iterdir()} == {"demo.png", "vectors.npy"}
    assert (out / "demo.png").read_bytes().startswith(b"\x89PNG")
    vectors = np.load(out / "vectors.npy")
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    again = run("demo", "--out", out)
    assert again.exit_code == 1
    assert "--force" in again.stderr
    assert run("demo", "--out", out, "--force").exit_code == 0
    assert "sphericalpca choose vectors.npy" in run("demo").stdout


def test_a_rival_that_keeps_more_is_named():
    assert module._of_rivals(0.6, {"SVD": 0.605, "PCA": 0.3}) == ""
    assert "by PCA." in module._of_rivals(0.6, {"SVD": 0.6, "PCA": 0.62})
    assert "by SVD and by PCA." in module._of_rivals(0.6, {"SVD": 0.7, "PCA": 0.62})


def test_without_matplotlib_the_rest_is_there(run, small, tmp_path, monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    result = run("demo", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert "no picture" in result.stderr
    assert "matplotlib" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["vectors.npy"]
