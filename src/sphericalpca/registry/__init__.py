"""Solvers and file formats: each fact in one place, nothing heavy imported."""

import importlib
from typing import Any

__all__ = ["MODEL_SUFFIX", "resolve"]

MODEL_SUFFIX = ".safetensors"


def resolve(place: str) -> Any:
    """Import what "module:attribute" names."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)
