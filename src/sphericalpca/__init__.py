"""Spherical PCA: components of unit length, so that distance is angle."""

from sphericalpca.certificate import Certificate
from sphericalpca.estimators import KSVD, R1PCA, SphericalKMeans, SphericalPCA
from sphericalpca.exceptions import DataError, MissingExtraError, NoDirectionWarning
from sphericalpca.rows import open_rows

__all__ = [  # noqa: RUF022 - plain alphabetical order; ruff would put capitals first
    "Certificate",
    "DataError",
    "KSVD",
    "MissingExtraError",
    "NoDirectionWarning",
    "R1PCA",
    "SphericalKMeans",
    "SphericalPCA",
    "open_rows",
]

__version__ = "0.1.0"
