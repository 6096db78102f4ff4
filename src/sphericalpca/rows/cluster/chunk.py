"""One chunk of a Dask collection, as an array or CSR matrix that can be multiplied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from sphericalpca.exceptions import DataError
from sphericalpca.rows.block import Matrix
from sphericalpca.rows.finite import first_non_finite

__all__ = ["checked_chunk", "chunk_matrix", "place_in_chunk"]


def chunk_matrix(pieces: Sequence[Any], columns: int, dtype: np.dtype[Any], chunk: int) -> Matrix:
    """The rows of one chunk; nothing is copied that need not be.

    Parameters
    ----------
    pieces : sequence of arrays, sparse matrices or data frames
        The same rows, and one after the other all of the columns.
    columns : int
        How many columns there are in all.
    dtype : float32 or float64
    chunk : int
        For messages: which chunk this is.
    """
    try:
        matrix = _joined([_as_numbers(piece, dtype) for piece in pieces])
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(
            f"Chunk {chunk} of X cannot be read as rows of {dtype} numbers: {error}. Chunks must "
            "be numpy arrays, scipy sparse matrices or data frames of numbers."
        ) from None
    if matrix.ndim != 2 or matrix.shape[1] != columns:
        raise DataError(
            f"Chunk {chunk} of X has shape {matrix.shape}, but must have {columns} columns: see "
            "that all chunks have the columns that the collection says."
        )
    return matrix


def checked_chunk(
    pieces: Sequence[Any], columns: int, dtype: np.dtype[Any], chunk: int, first: int | None
) -> Matrix:
    """The rows of one chunk, all finite; `first` is which row its first one is, if known."""
    matrix = chunk_matrix(pieces, columns, dtype, chunk)
    found = first_non_finite(matrix)
    if found is not None:
        row, column, value = found
        raise DataError(
            f"X contains {value} in {place_in_chunk(row, chunk, first)}, column {column}, but "
            "every entry must be finite: impute or drop it."
        )
    return matrix


def place_in_chunk(row: int, chunk: int, first: int | None) -> str:
    """Where a row of a chunk is, in words."""
    where = f"row {row} of chunk {chunk}"
    return where if first is None else f"row {first + row} ({where})"


def _as_numbers(piece: Any, dtype: np.dtype[Any]) -> Matrix:
    if sparse.issparse(piece):
        return piece.tocsr().astype(dtype, copy=False)
    if hasattr(piece, "iloc"):  # a data frame, whose missing values may have types of their own
        return piece.to_numpy(dtype=dtype, na_value=np.nan)
    if isinstance(piece, np.ma.MaskedArray):  # what is masked is missing, whatever lies below
        return np.ma.filled(piece.astype(dtype), np.nan)
    return np.asarray(piece).astype(dtype, copy=False)


def _joined(pieces: list[Matrix]) -> Matrix:
    if not any(sparse.issparse(piece) for piece in pieces):
        return pieces[0] if len(pieces) == 1 else np.hstack(pieces)
    matrix = pieces[0] if len(pieces) == 1 else sparse.hstack(pieces, format="csr")
    if not matrix.has_canonical_format:
        # Indices that are repeated count as their sum; what others hold is left as it is.
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix
