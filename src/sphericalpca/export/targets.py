"""All targets by name: how each is written, and what to do with it then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.export.databases import (
    MODEL_FILE,
    lancedb_snippet,
    pgvector_snippet,
    qdrant_snippet,
)
from sphericalpca.export.encoder_modules import write_sentence_transformers
from sphericalpca.export.faiss_index import factory_string, write_faiss
from sphericalpca.export.matrix_files import write_json, write_npy, write_npz
from sphericalpca.export.onnx_graph import INPUT, OUTPUT, write_onnx
from sphericalpca.export.unit_map import unit_map
from sphericalpca.files import write_whole
from sphericalpca.registry.formats import check_suffix

__all__ = ["TARGETS", "Job", "Target", "export_model"]


@dataclass(frozen=True)
class Job:
    """One export: the model, where to, and what some targets want besides."""

    model: Any
    path: Path
    index: str = "Flat"
    model_file: str = MODEL_FILE


@dataclass(frozen=True)
class Target:
    """How to write it, a sentence that tells how it is used, and what its name may end in."""

    write: Callable[[Job], None]
    hint: Callable[[Job], str]
    suffix: str
    takes_index: bool = False


def export_model(
    model: Any,
    path: str | Path,
    to: str,
    *,
    index: str | None = None,
    model_file: str = MODEL_FILE,
    force: bool = False,
) -> str:
    """Write a fitted model for another program, whole or not at all.

    Parameters
    ----------
    model : SphericalPCA
        Fitted.
    path : str or Path
        A file, or for "sentence-transformers" a folder.  A suffix that belongs to another kind
        of file is refused.
    to : {"faiss", "onnx", "sentence-transformers", "npy", "npz", "json", "pgvector", \
            "qdrant", "lancedb"}
        The target.
    index : str, optional
        For faiss, the factory string of the index behind the model, "Flat" by default.
    model_file : str, default="model.safetensors"
        For qdrant and lancedb, where the text loads the model from.
    force : bool, default=False
        Whether to replace what is there.  A folder is replaced only if it holds nothing but an
        older export.

    Returns
    -------
    hint : str
        How it is used, in a sentence.

    Raises
    ------
    ParameterError
        If there is no such target, or `index` is not for it.
    FileExistsError
        If something is there, and `force` is False.
    DataError
        If the target cannot hold this model.
    MissingExtraError
        If a package is missing that the target needs.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.export import export_model
    >>> X = np.random.default_rng(0).standard_normal((100, 6))
    >>> model = SphericalPCA(n_components=2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "reducer.json"
    ...     export_model(model, file, "json")
    ...     sorted(json.loads(file.read_text()))[:3]
    '"U", 6 x 2; "apply" says how to use it.'
    ['U', 'about', 'apply']
    """
    if to not in TARGETS:
        raise ParameterError(
            Parameter("to", to), "is not a supported target", f"choose from {', '.join(TARGETS)}"
        )
    target = TARGETS[to]
    if index is not None and not target.takes_index:
        raise ParameterError(Parameter("index", index), f"is for faiss, not for {to}", "omit it")
    path = Path(path)
    check_suffix(path, f"the export to {to}", target.suffix)
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: choose another name, or pass force=True.")
    job = Job(model, path, "Flat" if index is None else index, model_file)
    target.write(job)
    return target.hint(job)


def _write_text(text: Callable[[Job], str]) -> Callable[[Job], None]:
    return lambda job: write_whole(job.path, text(job).encode())


def _hint_faiss(job: Job) -> str:
    m, shape = unit_map(job.model).n_features, factory_string(job.model, job.index)
    return (
        f"faiss.read_index takes it; add and search full vectors, scores are cosines.  It has the "
        f'shape of faiss.index_factory({m}, "{shape}", faiss.METRIC_INNER_PRODUCT), with this '
        "model's matrix in place of PCA's."
    )


def _hint_onnx(job: Job) -> str:
    reducer = unit_map(job.model)
    return (
        f'Input "{INPUT}", float32, n x {reducer.n_features}; '
        f'output "{OUTPUT}", n x {reducer.n_components}.'
    )


def _hint_modules(job: Job) -> str:
    place = repr(str(job.path))
    return f"SentenceTransformer(modules=[*encoder, *SentenceTransformer({place})]) appends it."


def _hint_npy(job: Job) -> str:
    reducer = unit_map(job.model)
    return f"U, {reducer.n_features} x {reducer.n_components}: Y = X @ U, then rows of unit length."


def _hint_matrix(job: Job) -> str:
    reducer = unit_map(job.model)
    return f'"U", {reducer.n_features} x {reducer.n_components}; "apply" says how to use it.'


def _hint_text(job: Job) -> str:
    return f"A text to start from, for unit vectors of {unit_map(job.model).n_components} numbers."


TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "faiss": Target(
            lambda job: write_faiss(job.model, job.path, job.index),
            _hint_faiss,
            ".faiss",
            takes_index=True,
        ),
        "onnx": Target(lambda job: write_onnx(job.model, job.path), _hint_onnx, ".onnx"),
        "sentence-transformers": Target(
            lambda job: write_sentence_transformers(job.model, job.path), _hint_modules, ""
        ),
        "npy": Target(lambda job: write_npy(job.model, job.path), _hint_npy, ".npy"),
        "npz": Target(lambda job: write_npz(job.model, job.path), _hint_matrix, ".npz"),
        "json": Target(lambda job: write_json(job.model, job.path), _hint_matrix, ".json"),
        "pgvector": Target(
            _write_text(lambda job: pgvector_snippet(job.model)), _hint_text, ".sql"
        ),
        "qdrant": Target(
            _write_text(lambda job: qdrant_snippet(job.model, job.model_file)), _hint_text, ".py"
        ),
        "lancedb": Target(
            _write_text(lambda job: lancedb_snippet(job.model, job.model_file)), _hint_text, ".py"
        ),
    }
)
