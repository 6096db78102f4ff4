"""The folder is one of sentence-transformers: that library loads it and computes transform."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from sphericalpca import MissingExtraError
from sphericalpca.export import encoder_modules
from sphericalpca.export.encoder_modules import write_sentence_transformers

safetensors = pytest.importorskip("safetensors.numpy")


def tensors(folder):
    return safetensors.load_file(folder / "0_Dense" / "model.safetensors")


def config(folder):
    return json.loads((folder / "0_Dense" / "config.json").read_text())


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "reducer"


@pytest.fixture(scope="module")
def library():
    """The real library; its warnings on import do not matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("sentence_transformers")


@pytest.fixture
def load(library, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return lambda folder: library.SentenceTransformer(str(folder), device="cpu")


@pytest.fixture
def encode(library, load):
    """Texts to vectors, by a real encoder with the modules of a folder appended.

    The encoder's words are numbers of rows: the text "7" has the embedding X[7].
    """
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding  # noqa: PLC0415
    from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: PLC0415

    def run(X, folder):
        words = models.WordLevel({str(row): row for row in range(len(X))}, unk_token="0")
        tokenizer = Tokenizer(words)
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        embedding = StaticEmbedding(tokenizer, embedding_weights=X)
        encoder = library.SentenceTransformer(modules=[embedding], device="cpu")
        whole = library.SentenceTransformer(modules=[*encoder, *load(folder)], device="cpu")
        return whole.encode([str(row) for row in range(len(X))], show_progress_bar=False)

    return run


def test_appended_to_an_encoder_it_is_transform(encode, model, fresh, folder):
    write_sentence_transformers(model, folder)
    V = encode(fresh, folder)
    assert V.dtype == np.float32
    np.testing.assert_allclose(V, model.transform(fresh), atol=5e-6)


def test_real_vectors(encode, minilm, tmp_path):
    X, models = minilm[0][:500], minilm[1]
    for place, model in enumerate(models):
        write_sentence_transformers(model, tmp_path / str(place))
        V = encode(X, tmp_path / str(place))
        assert np.abs(V - model.transform(X)).max() < 5e-6


def test_zero_rows_stay_zero(load, plain_model, folder):
    import torch  # noqa: PLC0415

    write_sentence_transformers(plain_model, folder)
    features = load(folder)({"sentence_embedding": torch.zeros(2, 24)})
    assert not features["sentence_embedding"].detach().numpy().any()


def test_there_is_a_bias_only_if_the_model_is_centred(plain_model, centred_model, folder):
    """And a newer export replaces an older one."""
    bias = {"linear.weight", "linear.bias"}
    for model, keys in ((centred_model, bias), (plain_model, {"linear.weight"})):
        write_sentence_transformers(model, folder)
        assert tensors(folder).keys() == keys
        assert config(folder)["bias"] == (keys == bias)
        assert [entry.name for entry in folder.parent.iterdir()] == [folder.name]


def test_to_write_only_safetensors_is_needed(plain_model, folder, without):
    without("torch", "sentence_transformers", "transformers")
    write_sentence_transformers(plain_model, folder)
    made = {entry.name for entry in folder.iterdir()}
    assert made == {"0_Dense", "1_Normalize", "modules.json"}
    without("safetensors.numpy")
    with pytest.raises(MissingExtraError, match="needs safetensors"):
        write_sentence_transformers(plain_model, folder)


def test_files_and_folders_of_others_are_left_alone(plain_model, folder):
    folder.write_text("mine")
    with pytest.raises(NotADirectoryError, match="is a file, but must be a folder"):
        write_sentence_transformers(plain_model, folder)
    assert folder.read_text() == "mine"
    folder.unlink()
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"contains 'thesis\.tex', which would be"):
        write_sentence_transformers(plain_model, folder)
    assert [entry.name for entry in folder.iterdir()] == ["thesis.tex"]


def _fails_while_writing(monkeypatch):
    def fail(reducer):
        raise OSError("disk full")

    monkeypatch.setattr(encoder_modules, "_records", fail)


def _fails_at_the_last_rename(monkeypatch):
    """The older folder is moved aside already; the new one does not come into its place."""
    rename = Path.rename
    calls = []

    def second_fails(self, target):
        calls.append(target)
        if len(calls) == 2:
            raise OSError("disk full")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", second_fails)


@pytest.mark.parametrize("arrange", [_fails_while_writing, _fails_at_the_last_rename])
def test_a_failure_leaves_the_older_export(
    plain_model, centred_model, folder, monkeypatch, arrange
):
    write_sentence_transformers(centred_model, folder)
    before = tensors(folder)
    arrange(monkeypatch)
    with pytest.raises(OSError, match="disk full"):
        write_sentence_transformers(plain_model, folder)
    np.testing.assert_array_equal(tensors(folder)["linear.bias"], before["linear.bias"])
    assert [entry.name for entry in folder.parent.iterdir()] == [folder.name]
