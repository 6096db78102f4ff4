"""Registry of solvers and file formats; imports nothing heavy."""

import importlib
from typing import Any

__all__ = ["MODEL_SUFFIX", "resolve"]

MODEL_SUFFIX = ".safetensors"


def resolve(place: str) -> Any:
    """Import an object from "module:attribute"."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)
