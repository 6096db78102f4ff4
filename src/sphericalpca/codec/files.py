"""A codec and its codes for other programs: files, fully checked when read, and faiss."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.codec.quantiser import LEVELS, ZERO, Codes, Quantiser
from sphericalpca.estimators.fitted import DAMAGES, SLACK, VERSIONS, names_from, plain
from sphericalpca.exceptions import AbsentError, DataError, import_extra, printable
from sphericalpca.modelfile import read_model, write_model
from sphericalpca.rows import RowSource, Watch
from sphericalpca.rows.sources.filesource import optional
from sphericalpca.transforming import finite_blocks
from sphericalpca.writing import are_tables, carried_columns, open_writer

__all__ = ["FILES", "codes_to_faiss", "fingerprint", "load_codec", "open_folder", "save_codec"]
__all__ += ["write_folder"]

FITTED = ("components", "bits", "error_quantiles")
LEARNED = ("packing", "importance", "levels")
CODEC, MANIFEST, DECODER, CODE = "codec.safetensors", "manifest.json", "decode.py", "code"
FILES = (CODEC, MANIFEST, DECODER, "codes.npy", "codes.parquet", "curve.csv", "curve.png")


def fingerprint(codec: Any) -> str:
    """A checksum of everything that codes depend on."""
    parts = (codec.components_, *(getattr(codec._quantiser, name) for name in LEARNED))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16]


def save_codec(codec: Any, path: Path) -> None:
    """Write a fitted codec atomically, without a random generator."""
    header = {
        "class": "SphericalCodec",
        "versions": VERSIONS,
        "parameters": {name: plain(value) for name, value in codec.get_params().items()},
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
        if header["class"] != "SphericalCodec":
            raise ValueError(f"it holds a {header['class']}")
        _check_arrays(arrays)
        codec.set_params(**header["parameters"])
        codec._validate_params()
        codec._quantiser = Quantiser(*(arrays[name] for name in LEARNED))  # type: ignore[arg-type]
        vars(codec).update({f"{name}_": arrays[name] for name in FITTED})
        codec.n_features_in_ = codec.components_.shape[1]
        codec.distortion_ = float(header["distortion"])
        if (names := names_from(header["feature_names"], codec.n_features_in_)) is not None:
            codec.feature_names_in_ = names
        if fingerprint(codec) != header["fingerprint"] or not 0 <= codec.distortion_ <= 4:
            raise ValueError("it has another fingerprint, or no distortion")
    except DAMAGES as error:
        found = f"{str(path)!r} is not a complete SphericalCodec file ({printable(error, 200)})"
        raise DataError(found, remedy="save the codec again") from None


def _check_arrays(arrays: dict[str, Any]) -> None:
    """Refuse arrays that do not agree with each other, or would be read out of bounds."""
    components, packing = arrays["components"], arrays["packing"]
    (r, m), lines = components.shape, max(1, len(arrays["error_quantiles"]))
    shapes = ((r, m), (r,), (lines, 4), (r,), (r,), (LEVELS, r))
    kinds = ("float32 float64", "float64", "float64", "int64", "float32", "float32")
    for name, kind, shape in zip(FITTED + LEARNED, kinds, shapes, strict=True):
        found = arrays[name]
        if found.dtype.name not in kind.split() or found.shape != shape:
            raise ValueError(f"{name} has shape {found.shape} and type {found.dtype}")
    gap = np.abs(components @ components.T - np.eye(r)).max()
    steps = np.diff(packing, prepend=-1)  # between consecutive components: no byte is empty
    levels = arrays["importance"].min() > 0 and np.abs(arrays["levels"]).max() <= 1 + SLACK
    share, _, low, high = arrays["error_quantiles"].T
    errors = share.min() >= 0 and (low <= high).all()
    if not (gap < SLACK and steps[0] == 1 and np.isin(steps, (0, 1)).all() and levels and errors):
        raise ValueError("its numbers are not those of a codec")


def write_folder(
    codec: Any, rows: RowSource, folder: Path, keep: Sequence[str] | None, watch: Watch | None
) -> dict[str, Any]:
    """Encode the rows of files, tables to a table with its other columns; return a summary."""
    carried, zero, checksum, column = carried_columns(rows, keep), 0, 0, CODE
    while carried is not None and column in carried.schema.names:
        column += "_"
    name = "codes.parquet" if are_tables(rows) else "codes.npy"
    shape = rows.shape[0], codec.n_bytes_
    codec.save(folder / CODEC)
    with open_writer(folder / name, shape, np.uint8, name=column, carried=carried) as writer:
        for _, matrix in finite_blocks(codec._checked(rows)):
            writer.write(codes := codec._encoded(matrix))
            checksum = zlib.crc32(codes.data, checksum)
            zero += int((codes[:, 0] == ZERO).sum())
            if watch is not None:
                watch(len(codes))
    about = {"codes": name, "n_samples": shape[0], "zero_rows": zero, "checksum": checksum}
    facts = ("n_bytes", "n_components", "distortion", "fingerprint")
    about |= {name: getattr(codec, f"{name}_") for name in facts}
    (folder / MANIFEST).write_text(json.dumps(about, indent=1))
    (folder / DECODER).write_text(files(__package__).joinpath("decode.py.txt").read_text())
    return about


def open_folder(path: Path) -> tuple[Any, Codes, Any]:
    """Codec, codes and a table of other columns or None, after checking that they match."""
    if not (path / MANIFEST).is_file():
        found = f"{str(path)!r} has no {MANIFEST}"
        raise AbsentError(found, remedy="pass a folder that 'sphericalpca compress' wrote")
    from sphericalpca.codec.codec import SphericalCodec  # noqa: PLC0415 - which needs this module

    codec, table = SphericalCodec.load(path / CODEC), None
    try:
        about = json.loads((path / MANIFEST).read_text())
        if about["codes"] == "codes.npy":
            codes = np.load(path / "codes.npy", allow_pickle=False)
        else:
            table = optional("pyarrow.parquet", "codes").read_table(path / "codes.parquet")
            last = table.num_columns - 1  # whatever its name
            numbers = table.column(last).combine_chunks().flatten()
            codes, table = np.asarray(numbers).reshape(len(table), -1), table.remove_column(last)
        noted = [about[name] for name in ("n_samples", "fingerprint", "checksum")]
        own = [len(codes), codec.fingerprint_, zlib.crc32(np.ascontiguousarray(codes).data)]
        right = own == noted and codes.dtype == np.uint8 and codes.shape[1:] == (codec.n_bytes_,)
    except ImportError:
        raise
    except Exception as error:  # damaged files fail in many ways
        broken = f"{str(path)!r} is not a complete folder of codes ({printable(error, 200)})"
        raise DataError(broken, remedy="compress the rows again") from None
    if not right:
        strange = f"The codes in {str(path)!r} were not written with the codec beside them"
        raise DataError(strange, remedy="keep the files of a folder together, or compress again")
    return codec, codes, table


def codes_to_faiss(codec: Any, codes: Any) -> Any:
    """An ``IndexPQ`` after the codec's projection, with the same codes and levels.

    Its scores are inner products with decoded vectors that are not scaled to unit length, which
    faiss cannot do: neighbours are ranked worse, mainly with few bytes.  Zero rows are not marked.

    Parameters
    ----------
    codec : SphericalCodec
    codes : ndarray of uint8, shape (n_samples, n_bytes_)

    Returns
    -------
    index : faiss.IndexPreTransform
        For vectors of `n_features_in_` numbers, of unit length.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import SphericalCodec
    >>> from sphericalpca.codec import codes_to_faiss
    >>> X = load_digits().data.astype("f4")
    >>> codec = SphericalCodec(8, random_state=0).fit(X)
    >>> codes_to_faiss(codec, codec.encode(X)).ntotal
    1797
    """
    faiss = import_extra("faiss", "An index of codes", "faiss", "faiss")
    packing, n_bytes, m = codec.packing_, codec.n_bytes_, codec.n_features_in_
    # Groups of components get equal widths, padded with zeros.
    place = np.arange(len(packing)) - np.searchsorted(packing, packing)
    width = int(place.max()) + 1
    matrix = np.zeros((n_bytes, width, m), dtype=np.float32)
    levels = np.zeros((n_bytes, LEVELS, width), dtype=np.float32)
    matrix[packing, place] = codec.components_
    levels[packing, :, place] = codec._quantiser.levels.T
    inner = faiss.IndexPQ(n_bytes * width, n_bytes, 8, faiss.METRIC_INNER_PRODUCT)
    faiss.copy_array_to_vector(levels.ravel(), inner.pq.centroids)
    faiss.copy_array_to_vector(codec._check_codes(codes).ravel(), inner.codes)
    inner.is_trained, inner.ntotal = True, len(codes)
    change = faiss.LinearTransform(m, n_bytes * width)  # without a bias
    faiss.copy_array_to_vector(matrix.ravel(), change.A)
    change.is_trained = True
    return faiss.IndexPreTransform(change, inner)
