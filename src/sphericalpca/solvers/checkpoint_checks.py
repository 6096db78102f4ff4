"""Checks of the content of a checkpoint, which may come from another program."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from typing import Any, BinaryIO
from zipfile import ZipFile

import numpy as np

from sphericalpca.linalg import Array
from sphericalpca.rows.sources.npy import checked_header

__all__ = [
    "check_arrays",
    "check_header",
    "check_sizes",
    "check_subspace",
    "digest_of",
    "other_kind",
]

NUMBERS = ("passes", "flops", "value", "start_value", "seconds")
FLAGS = ("arrived", "finished")
OF_THE_BEST = ("value", "start_value", "residual")

# Largest difference of U'U from the identity: float32, after many steps.
SLACK = 1e-3


def other_kind(file: BinaryIO) -> str | None:
    """A description of a file that does not begin like a checkpoint; None if it does."""
    file.seek(0)
    begin = file.read(6)
    if not begin:
        return "it is empty"
    if begin == b"\x93NUMPY":
        return "it is an array in .npy format"
    return None if begin.startswith(b"PK") else "it is a file of another kind"


def check_sizes(file: BinaryIO) -> None:
    """Refuse arrays larger than the file: checkpoints are not compressed."""
    size = file.seek(0, os.SEEK_END)
    with ZipFile(file) as archive:
        if sum(info.file_size for info in archive.infolist()) > size:
            raise ValueError("its parts are longer than it is")
        for name in archive.namelist():
            checked_header(archive, size, name)
    file.seek(0)


def digest_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """A checksum of a checkpoint's content, with names, which the archive's do not cover."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def check_header(header: Mapping[str, Any]) -> None:
    """Raise a `TypeError` or a `ValueError` if a header is not one of this package."""
    for name in NUMBERS:
        _check_number(name, header[name])
    for name in FLAGS:
        if not isinstance(header[name], bool):
            raise TypeError(f"{name} must be a boolean")
    if header["svd_value"] == header["svd_value"]:  # NaN if no run began there
        _check_number("svd_value", header["svd_value"])
    _check_header_count("number", header["number"])
    best = header["best"]
    if best is not None:
        for name in OF_THE_BEST:
            _check_number(name, best[name])
        _check_header_count("n_iter", best["n_iter"])
        for name, constant in best["constants"].items():
            if not isinstance(constant, (int, float)):
                raise TypeError(f"{name} must be a number")


def check_arrays(arrays: Mapping[str, Array]) -> None:
    """Raise a `TypeError` unless all arrays hold real numbers."""
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub":
            raise TypeError(f"{name} holds {array.dtype}")


def check_subspace(U: Array, shape: tuple[int, int]) -> None:
    """Raise a `ValueError` unless U has this shape and orthonormal columns."""
    if U.shape != shape:
        raise ValueError(f"U has shape {U.shape}, not {shape}")
    with np.errstate(all="ignore"):
        product = U.T.astype(np.float64) @ U
        if not (np.abs(product - np.eye(shape[1])) < SLACK).all():
            raise ValueError("the columns of U are not orthonormal")


def _check_number(name: str, value: Any) -> None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (known and 0 <= float(value) < math.inf):
        raise ValueError(f"{name} must be a number")


def _check_header_count(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"{name} must be a non-negative integer")
