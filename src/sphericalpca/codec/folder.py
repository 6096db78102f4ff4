"""A folder of codes: the codec, the codes, who wrote them, and a program that reads them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sphericalpca.codec.codec import SphericalCodec
from sphericalpca.codec.quantiser import ZERO, Codes
from sphericalpca.exceptions import AbsentError, DataError, import_extra, printable
from sphericalpca.files import replacing_folder
from sphericalpca.rows import RowSource
from sphericalpca.rows.sources.chain import ChainedRows
from sphericalpca.rows.sources.table import TableRows
from sphericalpca.writing import carried_columns, open_writer

__all__ = ["FILES", "CodeFolder", "open_folder", "write_folder"]

CODEC, MANIFEST, DECODER, CODE = "codec.safetensors", "manifest.json", "decode.py", "code"
FILES = (CODEC, MANIFEST, DECODER, "codes.npy", "codes.parquet", "curve.csv", "curve.png")


class CodeFolder(NamedTuple):
    """What a folder holds; `table` has the other columns, or is None."""

    codec: SphericalCodec
    codes: Codes
    table: Any


def write_folder(
    codec: SphericalCodec,
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
    parts = rows.parts if isinstance(rows, ChainedRows) else [rows]
    table = all(isinstance(part, TableRows) for part in parts)
    carried, zero, checksum = carried_columns(rows, keep) if table else None, 0, 0
    shape, name = (rows.shape[0], codec.n_bytes_), "codes.parquet" if table else "codes.npy"
    with replacing_folder(out, FILES) as folder:
        codec.save(folder / CODEC)
        with (
            nullcontext() if carried is None else closing(carried),
            open_writer(folder / name, shape, np.uint8, name=CODE, carried=carried) as writer,
        ):
            for codes in codec.encode_blocks(rows):
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


def open_folder(path: Path) -> CodeFolder:
    """Codec and codes, once they were found to belong together."""
    if not (path / MANIFEST).is_file():
        found = f"{str(path)!r} has no {MANIFEST}"
        raise AbsentError(found, remedy="pass a folder that 'sphericalpca compress' wrote")
    codec = SphericalCodec.load(path / CODEC)
    try:
        about, table = json.loads((path / MANIFEST).read_text()), None
        if about["codes"] == "codes.npy":
            codes = np.load(path / "codes.npy", allow_pickle=False)
        else:
            parquet = import_extra("pyarrow.parquet", "A table of codes", "pyarrow", "files")
            table = parquet.read_table(path / "codes.parquet")
            lists = table.column(CODE).combine_chunks()
            codes = np.asarray(lists.flatten()).reshape(len(lists), -1)
            table = table.drop_columns([CODE])
        told = [about[name] for name in ("n_samples", "fingerprint", "checksum")]
        own = [len(codes), codec.fingerprint_, zlib.crc32(np.ascontiguousarray(codes).data)]
        right = own == told and codes.dtype == np.uint8 and codes.shape[1:] == (codec.n_bytes_,)
    except (LookupError, TypeError, ValueError, OSError) as error:
        broken = f"{str(path)!r} is not a whole folder of codes ({printable(error, 200)})"
        raise DataError(broken, remedy="compress the rows again") from None
    if not right:
        strange = f"The codes in {str(path)!r} were not written with the codec beside them"
        raise DataError(strange, remedy="keep the files of a folder together, or compress again")
    return CodeFolder(codec, codes, table)
