"""A codec in a file.  Anybody may have written it: everything in it is checked."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.codec.quantiser import LEVELS, Quantiser
from sphericalpca.exceptions import DataError, printable
from sphericalpca.linalg import Array
from sphericalpca.modelfile import read_model, write_model
from sphericalpca.version import __version__

__all__ = ["fingerprint", "load_codec", "save_codec"]

# What reading something other than a codec may raise.
DAMAGES = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)
# By how much components may differ from orthonormal ones.
SLACK = 1e-3
PARTS = ("packing", "importance", "levels")  # of the quantiser
PARAMETERS = ("n_bytes", "n_components", "random_state")


def fingerprint(codec: Any) -> str:
    """A checksum of all that codes depend on."""
    total = hashlib.sha256()
    for name in ("components", *PARTS):
        total.update(np.ascontiguousarray(_arrays(codec)[name]).data)
    return total.hexdigest()[:16]


def save_codec(codec: Any, path: Path) -> None:
    """Write a fitted codec, whole or not at all; a generator of random numbers is left out."""
    given = {name: getattr(codec, name) for name in PARAMETERS}
    header = {
        "class": "SphericalCodec",
        "versions": {"sphericalpca": __version__, "numpy": np.__version__},
        "parameters": {
            name: int(value) if isinstance(value, (int, np.integer)) else value
            for name, value in given.items()
            if isinstance(value, (int, np.integer, str))
        },
        "distortion": codec.distortion_,
        "fingerprint": fingerprint(codec),
        "feature_names": list(getattr(codec, "feature_names_in_", [])),
    }
    write_model(path, _arrays(codec), header)


def load_codec(codec: Any, path: Path) -> None:
    """Set parameters and fitted attributes from a file."""
    header, arrays = read_model(path)
    try:
        kind = str(header["class"])
        _require(kind == "SphericalCodec", f"it holds a {kind}")
        _check_arrays(arrays)
        names, m = header["feature_names"], arrays["components"].shape[1]
        right = isinstance(names, list) and len(names) in (0, m)
        _require(right and all(isinstance(name, str) for name in names), "names of features")
        codec.set_params(**header["parameters"])
        codec.components_, codec.bits_ = arrays["components"], arrays["bits"]
        codec.error_quantiles_, codec.n_features_in_ = arrays["error_quantiles"], m
        codec.distortion_ = float(header["distortion"])
        codec._quantiser = Quantiser(*(arrays[name] for name in PARTS))  # type: ignore[arg-type]
        if names:
            codec.feature_names_in_ = np.array(names, dtype=object)
        _require(fingerprint(codec) == header["fingerprint"], "its fingerprint is another")
        codec._validate_params()
    except DAMAGES as error:
        found = f"{str(path)!r} is not a whole SphericalCodec ({printable(error, 200)})"
        raise DataError(found, remedy="save the codec again") from None


def _arrays(codec: Any) -> dict[str, Array]:
    own = {"components": codec.components_, "bits": codec.bits_}
    parts = {name: getattr(codec._quantiser, name) for name in PARTS}
    return {**own, **parts, "error_quantiles": codec.error_quantiles_}


def _check_arrays(arrays: dict[str, Array]) -> None:
    """Refuse arrays that do not agree with each other, or would be read out of bounds."""
    A, packing, lines = arrays["components"], arrays["packing"], len(arrays["error_quantiles"])
    (r, m), real = A.shape, A.dtype.kind == "f"
    expected = {
        "components": (A.dtype if real else "f8", (r, m)),
        "bits": ("f8", (r,)),
        "packing": ("i8", (r,)),
        "importance": ("f4", (r,)),
        "levels": ("f4", (LEVELS, r)),
        "error_quantiles": ("f8", (max(1, lines), 4)),
    }
    for name, (kind, shape) in expected.items():
        found = arrays[name]
        fits = found.dtype == np.dtype(kind) and found.shape == shape
        _require(fits, f"{name} has shape {found.shape} and type {found.dtype}")
    _require(1 <= r <= m and np.abs(A @ A.T - np.eye(r)).max() < SLACK, "not orthonormal")
    steps = np.diff(packing, prepend=-1)
    _require(steps[0] == 1 and np.isin(steps, (0, 1)).all(), "a byte is empty")
    sane = arrays["importance"].min() > 0 and np.abs(arrays["levels"]).max() <= 1 + SLACK
    _require(sane, "levels are not parts of unit vectors")


def _require(holds: Any, found: str) -> None:
    if not holds:
        raise ValueError(found)
