"""A codec in a file.  Anybody may have written it: everything in it is checked."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.codec.levels import LEVELS
from sphericalpca.codec.quantiser import ZERO, Quantiser
from sphericalpca.exceptions import DataError, printable
from sphericalpca.linalg import Array
from sphericalpca.modelfile import read_model, write_model
from sphericalpca.version import __version__

__all__ = ["fingerprint", "load_codec", "save_codec"]

# What reading something other than a codec may raise.
DAMAGES = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)
# By how much components may differ from orthonormal ones.
SLACK = 1e-3
PARTS = ("packing", "importance", "levels", "counts")  # of the quantiser


def fingerprint(codec: Any) -> str:
    """A checksum of all that codes depend on."""
    total = hashlib.sha256()
    for name in ("components", *PARTS):
        total.update(np.ascontiguousarray(_arrays(codec)[name]).data)
    return total.hexdigest()[:16]


def save_codec(codec: Any, path: Path) -> None:
    """Write a fitted codec, whole or not at all."""
    names, seed, auto = getattr(codec, "feature_names_in_", []), codec.random_state, "auto"
    header = {
        "class": "SphericalCodec",
        "versions": {"sphericalpca": __version__, "numpy": np.__version__},
        "n_bytes": int(codec.n_bytes),
        "n_components": auto if codec.n_components == auto else int(codec.n_components),
        "random_state": int(seed) if isinstance(seed, (int, np.integer)) else None,
        "distortion": codec.distortion_,
        "fingerprint": fingerprint(codec),
        "feature_names": list(names),
    }
    write_model(path, _arrays(codec), header)


def load_codec(codec: Any, path: Path) -> None:
    """Set parameters and fitted attributes from a file."""
    header, arrays = read_model(path)
    try:
        kind = str(header["class"])
        _require(kind == "SphericalCodec", f"it holds a {kind}")
        _check_arrays(arrays)
        vars(codec).update(_attributes(header, arrays))
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
    A, packing, counts, levels = (arrays[n] for n in ("components", "packing", "counts", "levels"))
    (r, m), n_bytes = A.shape, len(counts)
    _require(1 <= n_bytes <= r <= m, f"{n_bytes} bytes, {r} components, {m} features")
    quantiles = len(arrays["error_quantiles"])
    kinds = {"packing": "i8", "counts": "i8", "importance": "f4", "levels": "f4"}
    shapes = {"counts": (n_bytes,), "levels": (LEVELS, r), "error_quantiles": (quantiles, 4)}
    for name in ("bits", *PARTS, "error_quantiles"):
        found, kind, shape = arrays[name], kinds.get(name, "f8"), shapes.get(name, (r,))
        fits = found.dtype == np.dtype(kind) and found.shape == shape and found.size
        _require(fits, f"{name} has shape {found.shape} and type {found.dtype}")
    _require(A.dtype in (np.float32, np.float64), f"components have type {A.dtype}")
    _require(np.abs(A @ A.T - np.eye(r)).max() < SLACK, "components are not orthonormal")
    _require(np.array_equal(np.unique(packing), np.arange(n_bytes)), "a byte is empty")
    _require(counts.min() >= 1 and counts.max() <= LEVELS and counts[0] <= ZERO, "levels")
    sane = arrays["importance"].min() > 0 and np.abs(levels).max() <= 1 + SLACK
    _require(sane, "levels are not parts of unit vectors")


def _attributes(header: dict[str, Any], arrays: dict[str, Array]) -> dict[str, Any]:
    names, m = header["feature_names"], arrays["components"].shape[1]
    right = isinstance(names, list) and len(names) in (0, m)
    _require(right and all(isinstance(name, str) for name in names), "names of features")
    return {
        **{name: header[name] for name in ("n_bytes", "n_components", "random_state")},
        "components_": arrays["components"],
        "bits_": arrays["bits"],
        "n_bytes_": len(arrays["counts"]),
        "distortion_": float(header["distortion"]),
        "error_quantiles_": arrays["error_quantiles"],
        "n_features_in_": m,
        "_quantiser": Quantiser(*(arrays[name] for name in PARTS)),  # type: ignore[arg-type]
        **({"feature_names_in_": np.array(names, dtype=object)} if names else {}),
    }


def _require(holds: Any, found: str) -> None:
    if not holds:
        raise ValueError(found)
