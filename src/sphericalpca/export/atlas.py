"""Embedding Atlas: a Parquet file of unit vectors and columns that describe them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.exceptions import DataError, import_extra
from sphericalpca.files import replacing
from sphericalpca.linalg import Array

__all__ = ["write_atlas"]

VECTOR = "vector"
AXES = ("x", "y", "z")

Columns = Mapping[str, Sequence[Any]]


def write_atlas(path: str | Path, V: Array, columns: Columns | None = None) -> None:
    """Write unit vectors and the columns that describe them to Parquet.

    Then ``embedding-atlas FILE --vector vector --text TEXT`` shows them in the plane, by UMAP with
    cosine distance.  Two or three components are also written to columns "x", "y" and "z", and
    ``--x x --y y`` shows the circle or sphere itself.

    Parameters
    ----------
    path : str or Path
    V : array of shape (n_samples, n_components)
        Unit vectors, as `transform` returns them.
    columns : mapping of str to sequence, optional
        For example texts, with one value per vector.

    Raises
    ------
    DataError
        If V is not a matrix, or a column has the wrong length or a reserved name.

    Examples
    --------
    >>> import tempfile
    >>> from sphericalpca import open_rows
    >>> from sphericalpca.export import write_atlas
    >>> V, texts = [[0.6, 0.8], [1.0, 0.0]], ["a cat", "a dog"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atlas(f"{folder}/reduced.parquet", V, {"text": texts})
    ...     open_rows(f"{folder}/reduced.parquet", column="vector").shape
    (2, 2)
    """
    arrow = import_extra("pyarrow", "A Parquet file", "pyarrow", "files")
    parquet = import_extra("pyarrow.parquet", "A Parquet file", "pyarrow", "files")
    V = np.ascontiguousarray(V, dtype=np.float32)
    if V.ndim != 2:
        raise DataError(f"V has {V.ndim} dimensions", "must be a matrix", "pass one row per vector")
    r = V.shape[1]
    # Two of many coordinates of a unit vector hardly determine its position.
    axes = AXES[:r] if r in (2, 3) else ()
    vectors = {VECTOR: arrow.FixedSizeListArray.from_arrays(arrow.array(V.ravel()), r)}
    vectors |= {name: V[:, place] for place, name in enumerate(axes)}
    for name, values in (columns or {}).items():
        if name in vectors:
            raise DataError(f"A column has the reserved name {name!r}", remedy="rename it")
        if len(values) != len(V):
            found = f"Column {name!r} has {len(values)} values for {len(V)} rows"
            raise DataError(found, remedy="pass one value per row")
    table = {**(columns or {}), **vectors}
    with replacing(Path(path)) as temporary:
        parquet.write_table(arrow.table(table), temporary)
