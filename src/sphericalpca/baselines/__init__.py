"""Algorithms of the methods that the paper compares with, one per file.

Their estimators are `sphericalpca.R1PCA`, `sphericalpca.KSVD` and `sphericalpca.SphericalKMeans`.
"""

__all__: list[str] = []
