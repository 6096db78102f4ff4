"""Every target by its name, and what holds for all of them."""

from __future__ import annotations

import pytest

from sphericalpca import SphericalPCA
from sphericalpca.export import TARGETS, export_model

NEEDS = {
    "faiss": "faiss",
    "onnx": "onnx",
    "sentence-transformers": "safetensors",
}


@pytest.fixture(params=TARGETS)
def target(request):
    pytest.importorskip(NEEDS.get(request.param, "numpy"))
    return request.param


def content(path):
    files = [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
    return {str(file.relative_to(path.parent)): file.read_bytes() for file in files}


def test_it_is_written_whole_and_over_an_older_one(plain_model, X, tmp_path, target):
    path = tmp_path / "out"
    other = SphericalPCA(5).fit(X)
    export_model(other, path, target)
    older = content(path)
    hint = export_model(plain_model, str(path), target, force=True)
    assert hint.endswith((".", "appends it."))
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    assert content(path) != older
    newer = content(path)
    export_model(plain_model, path, target, force=True)
    assert content(path) == newer


def test_what_is_there_is_kept(plain_model, tmp_path, target):
    path = tmp_path / "out"
    path.write_text("a thesis")
    with pytest.raises(FileExistsError, match="choose another name, or pass force=True"):
        export_model(plain_model, path, target)
    assert path.read_text() == "a thesis"


def test_none_has_the_name_of_another_kind_of_file(plain_model, tmp_path, target):
    """And only text is called text."""
    rows = [".npy", ".npz", ".parquet", ".pkl", ".json", ".safetensors", ".png", ".tsv"]
    texts = [".txt", ".TXT", ".md"]
    allowed = {
        f".{target}",
        *(texts if target in ("json", "pgvector", "qdrant", "lancedb") else []),
    }
    for suffix in (*rows, *texts):
        path = tmp_path / f"out{suffix}"
        if suffix in allowed:
            export_model(plain_model, path, target)
            assert path.is_file()
            continue
        with pytest.raises(ValueError, match=r"^Exports to .*: use a name such as out"):
            export_model(plain_model, path, target, force=True)
        assert not path.exists()


def test_a_model_of_another_kind_leaves_nothing(tmp_path, target):
    with pytest.raises(TypeError, match="A str cannot be exported"):
        export_model("model", tmp_path / "out", target)
    assert not list(tmp_path.iterdir())


def test_an_unknown_target_and_an_index_that_is_not_for_faiss(plain_model, tmp_path):
    with pytest.raises(ValueError, match="is not a supported target: choose from faiss"):
        export_model(plain_model, tmp_path / "out", "excel")
    with pytest.raises(ValueError, match="index='Flat' is for faiss, not for onnx"):
        export_model(plain_model, tmp_path / "out", "onnx", index="Flat")
