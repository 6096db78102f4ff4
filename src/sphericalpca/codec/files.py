"""A codec in a file, and a folder of codes: the codec, the codes, and a program that reads them.

Anybody may have written them: everything is checked.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.codec.quantiser import LEVELS, ZERO, Codes, Quantiser
from sphericalpca.estimators.fitted import DAMAGES, SLACK, names_from, plain
from sphericalpca.exceptions import AbsentError, DataError, import_extra, printable
from sphericalpca.files import replacing_folder
from sphericalpca.modelfile import read_model, write_model
from sphericalpca.rows import RowSource
from sphericalpca.transforming import finite_blocks
from sphericalpca.version import __version__
from sphericalpca.writing import are_tables, carried_columns, open_writer

__all__ = ["FILES", "fingerprint", "load_codec", "open_folder", "save_codec", "write_folder"]

FITTED = ("components", "bits", "error_quantiles")
LEARNED = ("packing", "importance", "levels")
CODEC, MANIFEST, DECODER, CODE = "codec.safetensors", "manifest.json", "decode.py", "code"
FILES = (CODEC, MANIFEST, DECODER, "codes.npy", "codes.parquet", "curve.csv", "curve.png")


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
        _check_arrays(arrays)
        codec.set_params(**header["parameters"])
        codec._validate_params()
        codec._quantiser = Quantiser(*(arrays[name] for name in LEARNED))  # type: ignore[arg-type]
        vars(codec).update({f"{name}_": arrays[name] for name in FITTED})
        codec.n_features_in_ = codec.components_.shape[1]
        codec.distortion_ = header["distortion"]
        names = names_from(header["feature_names"], codec.n_features_in_)
        if names is not None:
            codec.feature_names_in_ = names
        _require(isinstance(codec.distortion_, float), "its distortion must be a number")
        _require(fingerprint(codec) == header["fingerprint"], "its fingerprint is another")
    except DAMAGES as error:
        found = f"{str(path)!r} is not a whole SphericalCodec ({printable(error, 200)})"
        raise DataError(found, remedy="save the codec again") from None


def _check_arrays(arrays: dict[str, Any]) -> None:
    """Refuse arrays that do not agree with each other, or would be read out of bounds."""
    components, packing, levels = (arrays[name] for name in ("components", "packing", "levels"))
    (r, m), lines = components.shape, max(1, len(arrays["error_quantiles"]))
    shapes = ((r, m), (r,), (lines, 4), (r,), (r,), (LEVELS, r))
    kinds = (components.dtype.name, "float64", "float64", "int64", "float32", "float32")
    for name, kind, shape in zip(FITTED + LEARNED, kinds, shapes, strict=True):
        found = arrays[name]
        fits = found.dtype == kind and found.shape == shape
        _require(fits, f"{name} has shape {found.shape} and type {found.dtype}")
    _require(components.dtype in ("float32", "float64"), f"components are {components.dtype}")
    gap = np.abs(components @ components.T - np.eye(r)).max()
    _require(1 <= r <= m and gap < SLACK, "not orthonormal")
    steps = np.diff(packing, prepend=-1)
    _require(steps[0] == 1 and np.isin(steps, (0, 1)).all(), "a byte is empty")
    sane = arrays["importance"].min() > 0 and np.abs(levels).max() <= 1 + SLACK
    _require(sane, "levels are not parts of unit vectors")


def _require(holds: Any, found: str) -> None:
    if not holds:
        raise ValueError(found)


def write_folder(
    codec: Any,
    rows: RowSource,
    out: Path,
    *,
    keep: Sequence[str] | None = None,
    then: Callable[[Path], None] = lambda _: None,
    watch: Callable[[int], None] | None = None,
) -> int:
    """Encode the rows of files into a folder, whole or not at all; the number of zero rows.

    Tables stay tables: their other columns are kept, all or those named.  What is to be done `then`
    is done before the folder appears.
    """
    table, zero, checksum = are_tables(rows), 0, 0
    carried = carried_columns(rows, keep) if table else None
    shape, name = (rows.shape[0], codec.n_bytes_), "codes.parquet" if table else "codes.npy"
    with replacing_folder(out, FILES) as folder:
        codec.save(folder / CODEC)
        with open_writer(folder / name, shape, np.uint8, name=CODE, carried=carried) as writer:
            for _, matrix in finite_blocks(codec._checked(rows)):
                codes = codec._encoded(matrix)
                writer.write(codes)
                checksum = zlib.crc32(codes.data, checksum)
                zero += int((codes[:, 0] == ZERO).sum())
                if watch is not None:
                    watch(len(codes))
        about = {"codes": name, "n_samples": shape[0], "n_bytes": shape[1], "zero_rows": zero}
        about |= {"fingerprint": codec.fingerprint_, "checksum": checksum}
        (folder / MANIFEST).write_text(json.dumps(about, indent=1))
        (folder / DECODER).write_text(files(__package__).joinpath("decode.py.txt").read_text())
        then(folder)
    return zero


def open_folder(path: Path) -> tuple[Any, Codes, Any]:
    """Codec, codes and a table of other columns or None, once they were found to be of a kind."""
    if not (path / MANIFEST).is_file():
        found = f"{str(path)!r} has no {MANIFEST}"
        raise AbsentError(found, remedy="pass a folder that 'sphericalpca compress' wrote")
    from sphericalpca.codec.codec import SphericalCodec  # noqa: PLC0415 - which needs this module

    codec = SphericalCodec.load(path / CODEC)
    try:
        about, table = json.loads((path / MANIFEST).read_text()), None
        if about["codes"] == "codes.npy":
            codes = np.load(path / "codes.npy", allow_pickle=False)
        else:
            parquet = import_extra("pyarrow.parquet", "A table of codes", "pyarrow", "files")
            table = parquet.read_table(path / "codes.parquet")
            numbers = table.column(CODE).combine_chunks().flatten()
            codes = np.asarray(numbers).reshape(len(table), -1)
            table = table.drop_columns([CODE])
        noted = [about[name] for name in ("n_samples", "fingerprint", "checksum")]
        own = [len(codes), codec.fingerprint_, zlib.crc32(np.ascontiguousarray(codes).data)]
        right = own == noted and codes.dtype == np.uint8 and codes.shape[1:] == (codec.n_bytes_,)
    except (LookupError, TypeError, ValueError, OSError) as error:
        broken = f"{str(path)!r} is not a complete folder of codes ({printable(error, 200)})"
        raise DataError(broken, remedy="compress the rows again") from None
    if not right:
        strange = f"The codes in {str(path)!r} were not written with the codec beside them"
        raise DataError(strange, remedy="keep the files of a folder together, or compress again")
    return codec, codes, table
