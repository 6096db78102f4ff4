"""scikit-learn estimators: they check input, call the core and store its results."""

from sphericalpca.estimators.ksvd import KSVD
from sphericalpca.estimators.r1pca import R1PCA
from sphericalpca.estimators.spherical_kmeans import SphericalKMeans
from sphericalpca.estimators.spherical_pca import SphericalPCA

__all__ = ["KSVD", "R1PCA", "SphericalKMeans", "SphericalPCA"]
