"""Small valid files of every format: the initial inputs of fuzzing."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from reliability.samples import SAMPLES, sample_suffix
from sphericalpca import SphericalPCA
from sphericalpca.linalg import Array
from sphericalpca.registry.formats import FORMATS
from sphericalpca.registry.solvers import SOLVERS

__all__ = ["MATRIX", "SOLVER_NAMES", "STEPS", "checkpoint_fit", "seeds"]

# Rows of a row group, record batch or chunk.
GROUP = 4
# Iterations of the fits whose checkpoints are read, and of the fits that resume from them.
STEPS = 2
SOLVER_NAMES = tuple(name for name, entry in SOLVERS.items() if entry.resumable)


def _matrix() -> Array:
    X = np.random.default_rng(5).standard_normal((9, 4)).round(1)
    X[X < -0.8] = 0.0
    return X


MATRIX = _matrix()


def seeds(target: str) -> list[bytes]:
    """Valid inputs of a target."""
    return OTHERS[target]() if target in OTHERS else _rows(target)


def checkpoint_fit(solver: str, path: Path, steps: int) -> SphericalPCA:
    """A fit that writes a checkpoint, or resumes from it."""
    model = SphericalPCA(2, solver=solver, n_init=2, tol=0.0, max_iter=steps, random_state=0)
    model.fit(MATRIX, checkpoint=path)
    return model


def _rows(name: str) -> list[bytes]:
    """Files of a format of rows, in every layout and, if it has several, some types of numbers."""
    fixed = FORMATS[name].dtype
    found = []
    with TemporaryDirectory() as folder:
        for sample in SAMPLES.values():
            path = Path(folder) / f"seed{sample_suffix(sample)}"
            for kind in (fixed,) if fixed else ("f4", "f8", "i1"):
                if sample.format == name:
                    matrix = np.abs(9 * MATRIX) if fixed == "uint8" else MATRIX
                    sample.write(matrix.astype(kind), path, GROUP)
                    found.append(path.read_bytes())
    return found + (MORE[name]() if name in MORE else [])


def _npy() -> list[bytes]:
    kinds = ("<f2", "<u8", "?")
    arrays = [np.asarray(MATRIX, kind, order) for kind in kinds for order in ("C", "F")]
    return [_saved(np.save, array) for array in arrays]


def _saved(save: Callable[..., Any], *args: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    save(file, *args, **options)
    return file.getvalue()


def _tables() -> list[Any]:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    n, m = MATRIX.shape
    single = MATRIX.astype(np.float32).ravel()
    lists = pa.ListArray.from_arrays(pa.array(np.arange(n + 1) * m, pa.int32()), single)
    return [
        pa.table({"v": lists, "name": [f"row {k}" for k in range(n)]}),
        pa.table({"a": MATRIX[:, 0], "b": MATRIX[:, 1].astype(np.float16)}),
        pa.table({"a": np.arange(n), "b": np.arange(n, dtype=np.uint8)}),
    ]


def _parquet() -> list[bytes]:
    from pyarrow import parquet  # noqa: PLC0415 - an extra

    def save(file: Any, table: Any, **options: Any) -> None:
        parquet.write_table(table, file, row_group_size=GROUP, **options)

    kinds = ({"compression": "none", "use_dictionary": False}, {"compression": "zstd"})
    return [_saved(save, table, **options) for table in _tables() for options in kinds]


def _arrow() -> list[bytes]:
    from pyarrow import feather  # noqa: PLC0415 - an extra

    def save(file: Any, table: Any, compression: str) -> None:
        feather.write_feather(table, file, compression=compression, chunksize=GROUP)

    kinds = ("uncompressed", "lz4")
    return [_saved(save, table, compression=kind) for table in _tables() for kind in kinds]


def _hdf5() -> list[bytes]:
    import h5py  # noqa: PLC0415 - an extra

    def save(file: Any, **layout: Any) -> None:
        with h5py.File(file, "w") as opened:
            opened.create_dataset("train", data=MATRIX.astype(np.float32), **layout)

    layouts: list[dict[str, Any]] = [
        {"chunks": (GROUP, 2)},
        {"chunks": (GROUP, 4), "compression": "gzip", "shuffle": True, "fletcher32": True},
    ]
    return [_saved(save, **layout) for layout in layouts]


def _models() -> list[bytes]:
    options: list[dict[str, Any]] = [{}, {"center": True}, {"solver": "linearized"}]
    fits = [SphericalPCA(2, max_iter=STEPS, tol=0.0, **more).fit(MATRIX) for more in options]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        return [(model.save(path), path.read_bytes())[1] for model in fits]


def _checkpoints() -> list[bytes]:
    found = []
    with TemporaryDirectory() as folder:
        for k, solver in enumerate(SOLVER_NAMES):
            path = Path(folder) / solver
            checkpoint_fit(solver, path, STEPS)
            # The first byte selects the target.
            found.append(bytes([k]) + path.read_bytes())
    return found


def _csv() -> list[bytes]:
    lines = ["f0,f1,label", *(f"{a},{b},{k % 3}" for k, (a, b) in enumerate(MATRIX[:, :2]))]
    return [gzip.compress("\n".join(lines).encode(), mtime=0)]


def _texts() -> list[bytes]:
    posts = [
        {"id": str(k), "group": "ab"[k % 2], "subset": "train", "text": f"text {k}"}
        for k in range(4)
    ]
    return [gzip.compress("\n".join(map(json.dumps, posts)).encode(), mtime=0)]


# Features of only some files of a format.
MORE: dict[str, Callable[[], list[bytes]]] = {
    "npy": _npy,
    "parquet": _parquet,
    "arrow": _arrow,
    "h5": _hdf5,
}
# Files that hold no rows.
OTHERS: dict[str, Callable[[], list[bytes]]] = {
    "model": _models,
    "checkpoint": _checkpoints,
    "table": _csv,
    "corpus": _texts,
}
