"""A codec in a file.  Anybody may have written it: everything in it is checked."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.codec.quantiser import LEVELS, Quantiser
from sphericalpca.estimators.fitted import DAMAGES, SLACK, names_from, plain
from sphericalpca.exceptions import DataError, printable
from sphericalpca.linalg import Array
from sphericalpca.modelfile import read_model, write_model
from sphericalpca.version import __version__

__all__ = ["fingerprint", "load_codec", "save_codec"]

FITTED = ("components", "bits", "error_quantiles")
LEARNED = ("packing", "importance", "levels")


def fingerprint(codec: Any) -> str:
    """A checksum of all that codes depend on."""
    parts = (codec.components_, *(getattr(codec._quantiser, name) for name in LEARNED))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16]


def save_codec(codec: Any, path: Path) -> None:
    """Write a fitted codec, whole or not at all; a generator of random numbers is left out."""
    given = {name: plain(value) for name, value in codec.get_params().items()}
    header = {
        "class": "SphericalCodec",
        "versions": {"sphericalpca": __version__, "numpy": np.__version__},
        "parameters": {name: value for name, value in given.items() if value is not None},
        "distortion": codec.distortion_,
        "fingerprint": fingerprint(codec),
        "feature_names": list(getattr(codec, "feature_names_in_", [])),
    }
    arrays = {name: getattr(codec, f"{name}_") for name in FITTED}
    write_model(path, arrays | {name: getattr(codec._quantiser, name) for name in LEARNED}, header)


def load_codec(codec: Any, path: Path) -> None:
    """Set parameters and fitted attributes from a file."""
    header, arrays = read_model(path)
    try:
        _require(header["class"] == "SphericalCodec", f"it holds a {header['class']}")
        _check_arrays(**arrays)
        codec.set_params(**header["parameters"])
        vars(codec).update({f"{name}_": arrays[name] for name in FITTED})
        codec._quantiser = Quantiser(*(arrays[name] for name in LEARNED))  # type: ignore[arg-type]
        codec.n_features_in_, codec.distortion_ = (
            arrays["components"].shape[1],
            header["distortion"],
        )
        names = names_from(header["feature_names"], codec.n_features_in_)
        if names is not None:
            codec.feature_names_in_ = names
        _require(isinstance(codec.distortion_, float), "its distortion is no number")
        _require(fingerprint(codec) == header["fingerprint"], "its fingerprint is another")
        codec._validate_params()
    except DAMAGES as error:
        found = f"{str(path)!r} is not a whole SphericalCodec ({printable(error, 200)})"
        raise DataError(found, remedy="save the codec again") from None


def _check_arrays(*, components: Array, packing: Array, levels: Array, **others: Array) -> None:
    """Refuse arrays that do not agree with each other, or would be read out of bounds."""
    (r, m), lines = components.shape, len(others["error_quantiles"])
    found = {"components": components, "packing": packing, "levels": levels, **others}
    real = "f4" if components.dtype == np.float32 else "f8"
    expected: dict[str, Any] = {"components": (real, (r, m)), "levels": ("f4", (LEVELS, r))}
    expected |= {"bits": ("f8", (r,)), "packing": ("i8", (r,)), "importance": ("f4", (r,))}
    expected |= {"error_quantiles": ("f8", (max(1, lines), 4))}
    for name, (kind, shape) in expected.items():
        fits = found[name].dtype == np.dtype(kind) and found[name].shape == shape
        _require(fits, f"{name} has shape {found[name].shape} and type {found[name].dtype}")
    gap = np.abs(components @ components.T - np.eye(r)).max()
    _require(1 <= r <= m and gap < SLACK, "not orthonormal")
    steps = np.diff(packing, prepend=-1)
    _require(steps[0] == 1 and np.isin(steps, (0, 1)).all(), "a byte is empty")
    sane = others["importance"].min() > 0 and np.abs(levels).max() <= 1 + SLACK
    _require(sane, "levels are not parts of unit vectors")


def _require(holds: Any, found: str) -> None:
    if not holds:
        raise ValueError(found)
