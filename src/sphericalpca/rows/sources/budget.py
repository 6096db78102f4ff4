"""How much memory readers may use: a number of bytes, or words for one."""

from __future__ import annotations

import math
import re
from numbers import Real
from typing import Any

__all__ = ["parse_budget"]

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY_UNITS = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def parse_budget(memory_budget: Any) -> int:
    """Bytes, from ``536870912``, ``2e9``, ``"512MB"``, ``"1.5 GB"`` or ``"2GiB"``."""
    size: Any = _size(memory_budget) if isinstance(memory_budget, str) else memory_budget
    is_number = isinstance(size, Real) and not isinstance(size, bool)
    if is_number and 1 <= size < math.inf and size == int(size):
        return int(size)
    raise ValueError(
        f"memory_budget={memory_budget!r} must be a positive number of bytes, or text such as "
        "'512MB' or '2GB'."
    )


def _size(text: str) -> int | None:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?(?:e\d{1,2})?)\s*([kmgt]?i?)b?\s*", text.lower())
    unit = None if found is None else (UNITS | BINARY_UNITS).get(found[2])
    return None if found is None or unit is None else int(float(found[1]) * unit)
