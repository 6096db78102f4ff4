"""Export targets by name: how each is written, and how to use it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sphericalpca.exceptions import ExistsError, Parameter, ParameterError
from sphericalpca.export.databases import SAVED, lancedb_snippet, pgvector_snippet, qdrant_snippet
from sphericalpca.export.encoder_modules import write_sentence_transformers
from sphericalpca.export.faiss_index import factory_string, faiss_bytes
from sphericalpca.export.onnx_graph import INPUT, OUTPUT, onnx_bytes
from sphericalpca.export.unit_map import matrix_record, npy_bytes, npz_bytes, unit_map
from sphericalpca.files import write_whole
from sphericalpca.registry.formats import check_suffix

__all__ = ["TARGETS", "Target", "export_model"]


@dataclass(frozen=True)
class Target:
    """The content of an exported file (None if it is a folder), and how it is used."""

    content: Callable[..., bytes | str] | None
    hint: str
    suffix: str
    option: str | None = None


def export_model(
    model: Any,
    path: str | Path,
    to: str,
    *,
    index: str | None = None,
    model_file: str = SAVED,
    force: bool = False,
) -> str:
    """Write a fitted model for another program, atomically.

    Parameters
    ----------
    model : fitted SphericalPCA
    path : str or Path
        A file, or for "sentence-transformers" a folder.  The suffix must fit the target.
    to : {"faiss", "onnx", "sentence-transformers", "npy", "npz", "json", "pgvector", \
            "qdrant", "lancedb"}
        The target.
    index : str, optional
        For faiss, the factory string of the index of reduced vectors; "Flat" by default.
    model_file : str, default="model.safetensors"
        For qdrant and lancedb, the file from which the script loads the model.
    force : bool, default=False
        Overwrite.  A folder is replaced only if it holds nothing but an older export.

    Returns
    -------
    hint : str
        How to use the result.

    Raises
    ------
    ParameterError
        If the target is unknown, or `index` is given for another target than faiss.
    ExistsError
        If the path exists and `force` is False; a ``FileExistsError``.
    DataError
        If the target cannot hold this model.

    Examples
    --------
    >>> import tempfile
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.export import export_model
    >>> model = SphericalPCA(2).fit([[1, 2, 3], [3, 1, 2], [2, 3, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_model(model, f"{folder}/reducer.json", "json")
    '"U", 3 x 2; "apply" says how to use it.'
    """
    if to not in TARGETS:
        remedy = f"choose from {', '.join(TARGETS)}"
        raise ParameterError(Parameter("to", to), "is not a supported target", remedy)
    target = TARGETS[to]
    if index is not None and target.option != "index":
        rule = f"is for faiss, not for {to}"
        raise ParameterError(Parameter("index", index), rule, "leave it out")
    path = Path(path)
    kind = f"{target.suffix} files" if target.suffix else "folders"
    check_suffix(path, f"Exports to {to} are {kind}", target.suffix)
    if path.exists() and not force:
        keep = ("choose another name, or pass ", Parameter("force", value=True))
        raise ExistsError(f"{path} exists", remedy=keep)
    given = {"index": "Flat" if index is None else index, "model_file": model_file}
    if target.content is None:
        write_sentence_transformers(model, path)
    else:
        content = target.content(model, **{k: v for k, v in given.items() if k == target.option})
        write_whole(path, content if isinstance(content, bytes) else content.encode())
    m, r = unit_map(model).U.shape
    factory = factory_string(model, given["index"])
    return target.hint.format(path=repr(str(path)), factory=factory, m=m, r=r)


FAISS = (
    "Load it with faiss.read_index; add and search full vectors, scores are cosines.  It is like "
    'faiss.index_factory({m}, "{factory}", faiss.METRIC_INNER_PRODUCT), with this model\'s '
    "matrix in place of PCA's."
)
ONNX = f'Input "{INPUT}", float32, n x {{m}}; output "{OUTPUT}", n x {{r}}.'
MODULES = "SentenceTransformer(modules=[*encoder, *SentenceTransformer({path})]) appends it."
NPY = "U, {m} x {r}: Y = X @ U, then rows of unit length."
MATRIX = '"U", {m} x {r}; "apply" says how to use it.'
TEXT = "A script to adapt, for unit vectors of {r} numbers."

TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "faiss": Target(faiss_bytes, FAISS, ".faiss", "index"),
        "onnx": Target(onnx_bytes, ONNX, ".onnx"),
        "sentence-transformers": Target(None, MODULES, ""),
        "npy": Target(npy_bytes, NPY, ".npy"),
        "npz": Target(npz_bytes, MATRIX, ".npz"),
        "json": Target(lambda model: json.dumps(matrix_record(model)), MATRIX, ".json"),
        "pgvector": Target(pgvector_snippet, TEXT, ".sql"),
        "qdrant": Target(qdrant_snippet, TEXT, ".py", "model_file"),
        "lancedb": Target(lancedb_snippet, TEXT, ".py", "model_file"),
    }
)
