"""
The toy on the sphere
=====================

Two groups of points differ only in *direction*: each fills a wedge of a plane, at all distances
from the origin. Clustering by distance mixes up the points of both groups near the origin.
Spherical PCA maps every point to a unit vector of two numbers, whose distances are angles, and
separates the groups.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from sphericalpca import SphericalPCA
from sphericalpca.datasets import make_toy
from sphericalpca.metrics import clustering_accuracy, match_clusters
from sphericalpca.plotting import SphereDisplay

X, groups = make_toy(100, random_state=6)

# %%
# k-means on the points as they are, on the points divided by their lengths, and on the spherical
# components. This draw is a typical one: over a hundred draws the means are 90.8, 98.5 and 99.4 %.

model = SphericalPCA(n_components=2).fit(X)
V = model.transform(X)

found = {}
views = {"raw points": X, "unit rows": normalize(X), "spherical components": V}
for name, points in views.items():
    clusters = KMeans(2, n_init=10, random_state=0).fit_predict(points)
    found[name] = match_clusters(groups, clusters)
    print(f"k-means on {name}: {clustering_accuracy(groups, clusters):.1%} right")

# %%
# On the left the truth, in the middle what k-means makes of the raw points, with a ring around
# those that it puts into the wrong group, on the right the two components, which lie on the unit
# circle. The groups meet where both wedges touch the z axis.

colors = np.array(["#0072B2", "#D55E00"])
figure = plt.figure(figsize=(11, 4.2), layout="constrained")
panels = {"the two groups": groups, "k-means on raw points": found["raw points"]}
for place, (title, labels) in enumerate(panels.items(), 1):
    ax = figure.add_subplot(1, 3, place, projection="3d")
    ax.scatter(*X.T, c=colors[labels], s=14, linewidths=0, depthshade=False)
    wrong = labels != groups
    ax.scatter(*X[wrong].T, s=60, facecolors="none", edgecolors="#333333", linewidths=0.8)
    ax.view_init(elev=20, azim=45)
    ax.set(title=title, xticks=[0, 10, 20], yticks=[0, 10, 20], zticks=[0, 10, 20])
    ax.set(xlabel="x", ylabel="y")
ax = figure.add_subplot(1, 3, 3)
SphereDisplay(V).plot(ax=ax, scatter_kwargs={"c": colors[found["spherical components"]], "s": 20})
ax.set_title("k-means on spherical components")
plt.show()

# %%
# The paper motivates the method with this figure, but it is an easy case: "SVD, then unit rows"
# works equally well, as the fit reports. `svd_ratio_` is f at the SVD divided by the final f; above
# 0.9999 there is nothing to gain.

print(f"svd_ratio_ = {model.svd_ratio_:.6f}")
