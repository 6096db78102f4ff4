"""Fits without the columns that no row uses, such as most of a hashed vocabulary."""

from __future__ import annotations

from typing import Any

import numpy as np

from sphericalpca.iterate import Monitor, State
from sphericalpca.linalg import Array
from sphericalpca.products import Labels
from sphericalpca.rows import Rows

__all__ = ["OuterMonitor", "among_all"]


def among_all(U: Array, columns: Labels, m: int) -> Array:
    """U with zeros for all other columns of the data."""
    found = np.zeros((m, U.shape[1]), dtype=U.dtype)
    found[columns] = U
    return found


class _OuterState:
    """A state with its U among all columns."""

    def __init__(self, state: State, columns: Labels, m: int) -> None:
        self._state, self._place = state, (columns, m)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    @property
    def U(self) -> Array:
        return among_all(self._state.U, *self._place)


class OuterMonitor(Monitor):
    """Shows the states of a fit without unused columns to the monitor of the whole fit."""

    def __init__(self, outer: Monitor, whole: Rows, part: Rows, columns: Labels) -> None:
        self._outer, self._whole, self._part, self._columns = outer, whole, part, columns

    def begin(self) -> None:
        """An iteration begins."""
        self._outer.begin()

    def end(self, state: State) -> bool:
        """An iteration ended."""
        self._whole.passes, self._whole.flops = self._part.passes, self._part.flops
        shown: Any = _OuterState(state, self._columns, self._whole.shape[1])
        return self._outer.end(shown)
