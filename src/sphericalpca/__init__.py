"""Spherical PCA: components of unit length, so that distance is angle."""

from sphericalpca.certificate import Certificate
from sphericalpca.dimensions import DimensionChoice, choose_components
from sphericalpca.estimators import KSVD, R1PCA, SphericalKMeans, SphericalPCA
from sphericalpca.evaluation import Evaluation, evaluate
from sphericalpca.exceptions import DataError, MissingExtraError, NoDirectionWarning
from sphericalpca.rows import open_rows
from sphericalpca.version import __version__ as __version__

__all__ = [  # noqa: RUF022 - plain alphabetical order; ruff would put capitals first
    "Certificate",
    "DataError",
    "DimensionChoice",
    "Evaluation",
    "KSVD",
    "MissingExtraError",
    "NoDirectionWarning",
    "R1PCA",
    "SphericalKMeans",
    "SphericalPCA",
    "choose_components",
    "evaluate",
    "open_rows",
]
