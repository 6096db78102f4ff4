"""How many groups."""
from __future__ import annotations
from typing import Any
__all__ = ["choose_count"]
def choose_count(Z: Any, rng: Any, tell: Any) -> Any:
    """Later."""
    raise NotImplementedError
