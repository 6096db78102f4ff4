"""scikit-learn shells: check, call, store."""

from sphericalpca.estimators.spherical_pca import SphericalPCA

__all__ = ["SphericalPCA"]
