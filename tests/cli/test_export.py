"""``sphericalpca export``: files for other programs, never half, never over another file."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from sphericalpca import MissingExtraError, SphericalPCA
from sphericalpca.cli import export as command
from sphericalpca.export import TARGETS

pytest.importorskip("safetensors")


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((60, 8)) * np.linspace(2, 0.5, 8)


@pytest.fixture(scope="module")
def model(X):
    return SphericalPCA(4).fit(X)


@pytest.fixture
def path(tmp_path, model):
    model.save(tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.fixture
def output(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "exported"


def test_every_target(run, path, output):
    assert tuple(TARGETS) == command.TARGETS
    for target in TARGETS:
        if not find_spec({"faiss": "faiss", "onnx": "onnx"}.get(target, "numpy")):
            continue
        result = run("export", path, "--to", target, "-o", output)
        assert result.exit_code == 0, result.stderr
        assert result.stdout.startswith(f"{output}: ")
        assert result.stdout.count("\n") == 1
        assert [entry.name for entry in output.parent.iterdir()] == [output.name]
        assert output.is_dir() == (target == "sentence-transformers")
        output.rename(output.parents[1] / target)
    assert f"SphericalPCA.load({str(path)!r})" in (output.parents[1] / "qdrant").read_text()


def test_faiss_tells_its_factory_string(run, model, path, output, X):
    faiss = pytest.importorskip("faiss")
    result = run("export", path, "--to", "faiss", "--index", "HNSW16", "-o", output)
    assert 'faiss.index_factory(8, "PCA4,L2norm,HNSW16", faiss.METRIC_INNER' in result.stdout
    index = faiss.read_index(str(output))
    index.add(X.astype(np.float32))
    inner = faiss.downcast_index(index.index)
    np.testing.assert_allclose(inner.reconstruct_n(0, 60), model.transform(X), atol=1e-5)


def test_json(run, path, output):
    told = json.loads(run("export", path, "--to", "npz", "-o", output, "--json").stdout)
    assert told["output"] == str(output)
    assert told["to"] == "npz"
    assert set(np.load(output).files) == {"U", "normalise", "apply"}


def failed(result, *parts):
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr


@pytest.mark.parametrize("target", ["npz", "sentence-transformers"])
def test_nothing_is_overwritten_without_force(run, path, output, target):
    assert run("export", path, "--to", target, "-o", output).exit_code == 0
    again = run("export", path, "--to", target, "-o", output)
    failed(again, f"{output} exists", "--force")
    assert run("export", path, "--to", target, "-o", output, "--force").exit_code == 0


def test_force_does_not_remove_a_folder_of_others(run, path, output):
    (output / "thesis").mkdir(parents=True)
    failed(
        run("export", path, "--to", "sentence-transformers", "-o", output, "--force"),
        "contains 'thesis'",
    )
    failed(run("export", path, "--to", "npz", "-o", output, "--force"), "is a folder: choose")
    assert (output / "thesis").is_dir()


def test_what_is_wrong_is_said_in_one_line(run, path, output, monkeypatch):
    failed(run("export", path, "--to", "npz", "-o", output / "x"), "create it first")
    path.with_name("text").write_text("hello")
    failed(run("export", path.with_name("text"), "--to", "npz", "-o", output), "not a model")
    monkeypatch.setitem(sys.modules, "faiss", None)
    line = str(MissingExtraError("A faiss index", "faiss-cpu", "faiss"))
    failed(run("export", path, "--to", "faiss", "-o", output), line)
    assert not output.exists()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--to onnx --index Flat", "--index is for faiss, not for onnx"),
        ("--to fais", "Did you mean 'faiss'?"),
    ],
)
def test_usage(run, path, output, words, line):
    result = run("export", path, *words.split(), "-o", output)
    assert result.exit_code == 2
    assert line in result.stderr
