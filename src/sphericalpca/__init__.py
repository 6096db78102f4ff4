"""Spherical PCA: components of unit length, so that distance is angle."""

from sphericalpca.certificate import Certificate
from sphericalpca.estimators import SphericalPCA
from sphericalpca.exceptions import DataError, MissingExtraError, NoDirectionWarning

__all__ = ["Certificate", "DataError", "MissingExtraError", "NoDirectionWarning", "SphericalPCA"]

__version__ = "0.1.0"
