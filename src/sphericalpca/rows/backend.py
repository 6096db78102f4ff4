"""Where arrays are: in NumPy's memory, or on a device of an array API namespace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sphericalpca.linalg import Array

__all__ = ["Backend", "host_view", "on_host"]


@dataclass(frozen=True)
class Backend:
    """A namespace of the array API and a device; by default NumPy and the host."""

    xp: Any = np  # follows the array API standard, 2023.12 or later
    device: Any = None
    double: bool = True  # whether the device has float64

    @property
    def wide(self) -> Any:
        """The widest type for sums."""
        return self.xp.float64 if self.double else self.xp.float32

    def put(self, array: Any, dtype: Any = None) -> Any:
        """Move a NumPy array to the device; in host memory writable arrays are not copied.

        Other arrays are assumed to be there already.
        """
        if not isinstance(array, np.ndarray):
            return array
        if self.xp is np:
            return array if dtype is None else np.asarray(array, dtype=dtype)
        if not self.double and array.dtype == np.float64:
            array = array.astype(np.float32)
        # torch cannot address the former, and warns of the latter (DLPack views of NumPy 2.0).
        if min(array.strides, default=0) < 0 or not array.flags.writeable:
            array = array.copy()
        return self.xp.asarray(array, dtype=dtype, device=self.device)

    def zero_rows(self, V: Any) -> int:
        """Number of zero rows of an array on the device."""
        xp = np if isinstance(V, np.ndarray) else self.xp
        return int(V.shape[0]) - int(xp.sum(xp.astype(xp.any(V != 0, axis=1), xp.int64)))


def host_view(X: Any) -> Array | None:
    """View an array of another library as NumPy's; None if NumPy cannot address its memory."""
    try:
        return np.asarray(np.from_dlpack(X))
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        return None


def on_host(array: Any) -> Any:
    """Convert to a NumPy array, copied only if it is on another device; None stays None."""
    if array is None or isinstance(array, np.ndarray):
        return array
    for leave in ("cpu", "get"):  # torch's name, and CuPy's
        if hasattr(array, leave):
            array = getattr(array, leave)()
            break
    view = host_view(array)
    return np.asarray(array) if view is None else view
