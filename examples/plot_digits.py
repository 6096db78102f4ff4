"""
Digits: when a plain SVD is enough
==================================

On images, as on most dense data, the first directions carry so much of every row that "SVD, then
unit rows" and Spherical PCA find the same subspace. The fit itself tells you so, at no extra cost,
and the certificate bounds how much better any other subspace could be.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from sphericalpca import SphericalPCA
from sphericalpca.metrics import clustering_accuracy
from sphericalpca.plotting import SphereDisplay

X, labels = load_digits(return_X_y=True)

# %%
# With ten components the mean cosine between an image and its projection is 0.96, and there is
# nothing better.

model = SphericalPCA(n_components=10).fit(X)
certificate = model.certify(X)
print(f"mean cosine {model.mean_cosine_:.4f}")
print(f"SVD ratio   {model.svd_ratio_:.7f}")
print(f"no subspace is better by more than {certificate.gap:.0e} ({certificate.kind})")

# %%
# So the clusters are about the same, too.

svd = normalize(TruncatedSVD(10, random_state=0).fit_transform(X))
for name, V in {"SVD + unit rows": svd, "Spherical PCA": model.transform(X)}.items():
    found = KMeans(10, n_init=10, random_state=0).fit_predict(V)
    print(f"{name}: accuracy {clustering_accuracy(labels, found):.3f}")

# %%
# With three components images are points on a sphere. No pixel is negative, so all images lie in
# one part of it: nothing is centred, since that would change every angle. On the right,
# `inverse_transform` takes the components back to the space of images, as unit vectors again.

figure = plt.figure(figsize=(9.8, 4.4), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1.05, 1))

sphere = SphericalPCA(n_components=3).fit(X)
few = np.isin(labels, [0, 1, 4, 6, 7])
ax = left.add_subplot(projection="3d")
SphereDisplay.from_estimator(sphere, X[few], labels[few], ax=ax, scatter_kwargs={"s": 9})
ax.set_title("five digits at r = 3")

examples = [int(np.flatnonzero(labels == digit)[0]) for digit in range(5)]
images = {"image": X[examples]}
for r in (3, 10, 30):
    reduced = SphericalPCA(n_components=r).fit(X)
    images[f"r = {r}"] = reduced.inverse_transform(reduced.transform(X[examples]))
grid = right.subplots(len(images), len(examples))
for line, (title, pictures) in zip(grid, images.items(), strict=True):
    for ax, picture in zip(line, pictures, strict=True):
        ax.imshow(picture.reshape(8, 8), cmap="Greys", vmin=0)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    line[0].set_ylabel(title, rotation=0, ha="right", va="center")
plt.show()
