"""Transform files that do not fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path

from sklearn.utils.validation import check_is_fitted

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.columns import check_source
from sphericalpca.estimators.fitted import model_on_host
from sphericalpca.estimators.monitoring import warn_of_zero_rows
from sphericalpca.exceptions import DataError, Parameter, counted
from sphericalpca.linalg import Array
from sphericalpca.parallel import allowed_threads, parallel
from sphericalpca.registry.formats import FORMATS, format_of, joined
from sphericalpca.rows import Matrix, RowSource, in_memory
from sphericalpca.rows.reading import best_block_rows, read_blocks, refuse_non_finite
from sphericalpca.writing import carried_columns, open_writer

__all__ = ["transform_blocks", "transform_file"]


def transform_blocks(model: SphericalPCA, rows: RowSource) -> Generator[Array, None, None]:
    """Transform the rows of files, one block at a time, in their order.

    Parameters
    ----------
    model : fitted SphericalPCA
    rows : RowSource
        From `open_rows`.

    Yields
    ------
    V : ndarray of shape (rows of the block, n_components)
        As returned by `SphericalPCA.transform`.

    Raises
    ------
    DataError
        If the columns differ from those of the fit, a number is not finite, or a file changes.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sphericalpca import SphericalPCA, open_rows
    >>> from sphericalpca.transforming import transform_blocks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/rows.npy", [[1, 2, 3], [3, 1, 2], [2, 3, 1]])
    ...     rows = open_rows(f"{folder}/rows.npy")
    ...     [V.shape for V in transform_blocks(SphericalPCA(2).fit(rows), rows)]
    [(3, 2)]
    """
    check_is_fitted(model)
    check_width(model, rows)
    check_source(model, rows, reset=False)
    model = model_on_host(model)
    U = model.components_.T.astype(rows.dtype)
    with closing(finite_blocks(rows)) as blocks:
        for first, matrix in blocks:
            # Left before the yield: otherwise it would limit the caller's threads, too.
            with parallel():
                options = {"mean": model.mean_, "first": first}
                V = in_memory(matrix, normalize=model.normalize, **options).components(U)
            yield V


def finite_blocks(rows: RowSource) -> Generator[tuple[int, Matrix], None, None]:
    """The rows of files in blocks, each after the number of its first row."""
    height = best_block_rows(rows, allowed_threads())
    with closing(read_blocks(rows, slice(0, rows.shape[0]), height)) as blocks:
        for place, matrix in blocks:
            refuse_non_finite(rows, place.start, matrix)
            yield place.start, matrix


def check_width(model: SphericalPCA, rows: RowSource) -> None:
    """Refuse files with another number of columns than the fit had."""
    if rows.shape[1] != model.n_features_in_:
        value = f"{rows.name} has {counted(rows.shape[1], 'column')}"
        rule = f"the model was fitted on {model.n_features_in_}"
        raise DataError(value, rule, "pass vectors of the same kind")


def transform_file(
    model: SphericalPCA,
    rows: RowSource,
    output: str | Path,
    *,
    name: str = "vector",
    keep: Sequence[str] | None = None,
    watch: Callable[[int], None] | None = None,
) -> int:
    """Transform the rows of files and write the result to a file, atomically.

    Parameters
    ----------
    model, rows
        As in `transform_blocks`.
    output : str or Path
        Its suffix selects the format: NumPy's ``.npy``, or a table such as ``.parquet``.
    name : str, default="vector"
        Name of the column of vectors in a table.
    keep : list of str, optional
        Other columns of the input tables to write to an output table; all by default.  A mixture of
        files with and without other columns raises an error, unless the list is empty.
    watch : callable, optional
        Called with the number of rows after each block is written.

    Returns
    -------
    n_zero : int
        Number of rows that have no direction and are zero in the result.

    Raises
    ------
    DataError
        If the files do not suit the model, or `keep` does not suit the files or the output.

    Warns
    -----
    NoDirectionWarning
        If rows are zero in the result.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sphericalpca import SphericalPCA, open_rows
    >>> from sphericalpca.transforming import transform_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/rows.npy", [[1, 2, 3], [3, 1, 2], [2, 3, 1]])
    ...     rows = open_rows(f"{folder}/rows.npy")
    ...     transform_file(SphericalPCA(2).fit(rows), rows, f"{folder}/small.npy")
    ...     np.load(f"{folder}/small.npy").shape
    0
    (3, 2)
    """
    check_is_fitted(model)
    output, n_zero, shape = Path(output), 0, (rows.shape[0], model.n_components_)
    written = format_of(output)
    table = written is None or written.table  # unsupported formats raise an error below
    if keep and not table:
        tables = [kind.title for kind in FORMATS.values() if kind.table and kind.writer]
        found = f"{str(output)!r} has no place for the columns {list(keep)}"
        remedy = (f"write to a {joined(tables, 'or')} file, or leave out ", Parameter("keep"))
        raise DataError(found, remedy=remedy)
    carried = carried_columns(rows, keep) if table else None
    with (
        parallel(),  # for all blocks: threads need not be started for each
        closing(transform_blocks(model, rows)) as blocks,
        open_writer(output, shape, rows.dtype, name=name, carried=carried) as writer,
    ):
        for V in blocks:
            writer.write(V)
            n_zero += int((~V.any(axis=1)).sum())
            if watch is not None:
                watch(len(V))
    warn_of_zero_rows(n_zero, rows.shape[0], "came out as zero")
    return n_zero
