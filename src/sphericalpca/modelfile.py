"""Model files: safetensors with a JSON header, which contain no code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.exceptions import AbsentError, DataError, import_extra, printable
from sphericalpca.files import write_whole
from sphericalpca.linalg import Array
from sphericalpca.registry import MODEL_SUFFIX
from sphericalpca.registry.formats import check_suffix

__all__ = ["FORMAT", "check_model_name", "read_model", "require_library", "write_model"]

# Increased when older versions cannot read the files of this one.
FORMAT = 2
READABLE = (1, 2)  # version 0.1 wrote format 1
KEY = "sphericalpca"

# Errors from reading other files; types that numpy lacks raise AttributeError.
UNREADABLE = (AttributeError, KeyError, RecursionError, TypeError, ValueError)


def write_model(path: Path, arrays: Mapping[str, Array], header: Mapping[str, Any]) -> None:
    """Write arrays and header to one file, atomically."""
    check_model_name(path)
    library = _safetensors("safetensors.numpy")
    text = json.dumps({"format": FORMAT, **header})
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_whole(path, library.save(contiguous, metadata={KEY: text}))


def read_model(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read header and arrays of a file that `write_model` wrote, with finite numbers only."""
    library = _safetensors("safetensors")
    if not path.is_file():
        absent = "is a device, pipe or socket" if path.exists() else "does not exist"
        what = "is a folder" if path.is_dir() else absent
        raise AbsentError(f"The model file {str(path)!r} {what}", remedy="check the name")
    try:
        with library.safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {})[KEY])
            version = header["format"]
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (library.SafetensorError, *UNREADABLE) as error:
        reason = printable(error, 200)
        raise _refusal(path, f"is not a model of sphericalpca, or is damaged ({reason})") from None
    if type(version) is not int or version not in READABLE:
        kind = "" if type(version) is int else f", a {type(version).__name__} instead of an int"
        raise DataError(
            f"{str(path)!r} has format {printable(repr(version), 20)}{kind}",
            f"this version reads formats {READABLE[0]} and {READABLE[1]}",
            "use the version that wrote it, or a later one",
        )
    for name, array in arrays.items():
        # A history may hold NaN: a ratio of zero over zero.
        if not (name.startswith("history.") or np.isfinite(array).all()):
            raise _refusal(path, f"holds NaN or infinity in {name!r}")
    return header, arrays


def check_model_name(path: Path) -> None:
    """Refuse the suffix of another kind of file, which may hold data."""
    check_suffix(path, "Models are safetensors files", MODEL_SUFFIX)


def require_library() -> None:
    """Raise a `MissingExtraError` before a long fit if models cannot be written."""
    _safetensors("safetensors.numpy")


def _refusal(path: Path, found: str) -> DataError:
    return DataError(f"{str(path)!r} {found}", remedy="save the model again")


def _safetensors(module: str) -> Any:
    return import_extra(module, "A model file", "safetensors", "files")
