"""Packages that only one target needs."""

from __future__ import annotations

import importlib
from typing import Any

from sphericalpca.exceptions import MissingExtraError

__all__ = ["optional"]


def optional(module: str, feature: str, package: str, extra: str) -> Any:
    """Import a module, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(feature, package, extra) from None
