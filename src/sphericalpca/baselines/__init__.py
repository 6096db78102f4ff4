"""The algorithms of the methods that the paper compares with, one per file.

::

    reweighted.py  R1-PCA: subspace iteration with Huber's weights, in the package's own loop
    pursuit.py     orthogonal matching pursuit for all rows at once
    dictionary.py  K-SVD: pursuit, then atom by atom
    lloyd.py       spherical k-means

Their estimators are `sphericalpca.R1PCA`, `sphericalpca.KSVD`, `sphericalpca.SphericalKMeans`.
"""

__all__: list[str] = []
