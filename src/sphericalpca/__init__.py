"""Spherical PCA: PCA for data compared by cosine."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from typing import TYPE_CHECKING, Any

from sphericalpca.version import __version__ as __version__

if TYPE_CHECKING:
    from sphericalpca.certificate import Certificate as Certificate
    from sphericalpca.codec import SphericalCodec as SphericalCodec
    from sphericalpca.dimensions import DimensionChoice as DimensionChoice
    from sphericalpca.dimensions import choose_components as choose_components
    from sphericalpca.estimators import KSVD as KSVD
    from sphericalpca.estimators import R1PCA as R1PCA
    from sphericalpca.estimators import SphericalKMeans as SphericalKMeans
    from sphericalpca.estimators import SphericalPCA as SphericalPCA
    from sphericalpca.evaluation import Evaluation as Evaluation
    from sphericalpca.evaluation import evaluate as evaluate
    from sphericalpca.exceptions import CapacityWarning as CapacityWarning
    from sphericalpca.exceptions import DataError as DataError
    from sphericalpca.exceptions import MissingExtraError as MissingExtraError
    from sphericalpca.exceptions import NoDirectionWarning as NoDirectionWarning
    from sphericalpca.exceptions import ParameterError as ParameterError
    from sphericalpca.exceptions import ShortfallWarning as ShortfallWarning
    from sphericalpca.groups import TextClusters as TextClusters
    from sphericalpca.rows import open_rows as open_rows
    from sphericalpca.system import show_versions as show_versions

# Modules, and the public names in them.
_ROOMS = {
    "certificate": ("Certificate",),
    "codec": ("SphericalCodec",),
    "dimensions": ("DimensionChoice", "choose_components"),
    "estimators": ("KSVD", "R1PCA", "SphericalKMeans", "SphericalPCA"),
    "evaluation": ("Evaluation", "evaluate"),
    "exceptions": (
        *("DataError", "MissingExtraError", "ParameterError"),
        *("CapacityWarning", "NoDirectionWarning", "ShortfallWarning"),
    ),
    "groups": ("TextClusters",),
    "rows": ("open_rows",),
    "system": ("show_versions",),
}
_PLACES = dict(sorted((name, room) for room, names in _ROOMS.items() for name in names))
__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    """Import a public name, or a module of the package, on first use."""
    if name in _PLACES:
        value = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
        globals()[name] = value
        return value
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Names for tab completion: public names and modules, imported or not."""
    rooms = {room.name for room in pkgutil.iter_modules(__path__)}
    hidden = {name for name in globals() if name.startswith("__")}
    return sorted({*hidden, *__all__, *rooms} - {"__main__"})
