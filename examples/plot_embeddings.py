"""
Embeddings: do neighbours survive?
==================================

Text encoders return long vectors, which are compared by cosine. How short can they be made before
a search finds other neighbours? And which way of shortening them keeps most neighbours?

The vectors here are generated, with the traits of real ones: a common offset, a slowly decaying
spectrum, and rows that belong together. On real vectors the order of the methods is much the same
from 64 dimensions on (see :doc:`/guide/embeddings`).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import normalize

from sphericalpca import SphericalPCA


def make_embeddings(n, m, groups, seed=0):
    """Unit rows around group centres, plus an offset that all of them share."""
    rng = np.random.default_rng(seed)
    spectrum = np.arange(1, m + 1) ** -0.35 * np.exp(-((1.6 * np.arange(m) / m) ** 4))
    centres = rng.standard_normal((groups, m))
    members = centres[rng.integers(groups, size=n)] + 0.8 * rng.standard_normal((n, m))
    offset = 0.33 * normalize(rng.standard_normal((1, m)) * spectrum)
    turn = np.linalg.qr(rng.standard_normal((m, m)))[0]
    return normalize((normalize(members * spectrum) + offset) @ turn).astype(np.float32)


def neighbours(queries, base, k=10):
    """The k rows of the base with the largest inner product, for each query."""
    return np.argpartition(-queries @ base.T, k, axis=1)[:, :k]


def recall(true, found):
    """Share of the true neighbours that were found."""
    both = [len(np.intersect1d(a, b)) for a, b in zip(true, found, strict=True)]
    return np.mean(both) / true.shape[1]


X = make_embeddings(4500, 256, groups=150)
base, queries = X[:4000], X[4000:]
true = neighbours(queries, base)

# %%
# Each method is fitted on the base alone; the five hundred queries are new to it. If vectors do
# not have unit length, the search uses the plain inner product, as many indexes do.

dimensions = (8, 16, 32, 64, 128)


def recalls(r):
    """Recall at 10 of each method at dimension r, and the SVD ratio."""
    spherical = SphericalPCA(r).fit(base)
    svd = TruncatedSVD(r, algorithm="arpack", random_state=0).fit(base)
    pca = PCA(r, svd_solver="covariance_eigh").fit(base)
    pairs = {
        "Spherical PCA": [spherical.transform(part) for part in (queries, base)],
        "SVD + unit rows": [normalize(svd.transform(part)) for part in (queries, base)],
        "SVD, inner product": [svd.transform(part) for part in (queries, base)],
        "centred PCA, unit rows": [normalize(pca.transform(part)) for part in (queries, base)],
        "centred PCA, inner product": [pca.transform(part) for part in (queries, base)],
        "first r coordinates": [normalize(part[:, :r]) for part in (queries, base)],
    }
    found = {name: recall(true, neighbours(*pair)) for name, pair in pairs.items()}
    return found, spherical.svd_ratio_


found, ratios = zip(*map(recalls, dimensions), strict=True)

# %%
# Two lines lie on top of each other: on these vectors "SVD, then unit rows" keeps as many
# neighbours as Spherical PCA, and a `svd_ratio_` near 1 says so in advance. What costs neighbours
# is to leave out the unit rows, to subtract the mean (except at very few dimensions, where it helps
# a little), and to cut off coordinates of vectors that were not made for it.

styles = {
    "Spherical PCA": ("#0072B2", "o-", 2.6),
    "SVD + unit rows": ("#E69F00", "--", 1.8),
    "SVD, inner product": ("#009E73", "s-", 1.2),
    "centred PCA, unit rows": ("#CC79A7", "^-", 1.2),
    "centred PCA, inner product": ("#882255", "v-", 1.2),
    "first r coordinates": ("#666666", "D-", 1.2),
}
figure, ax = plt.subplots(figsize=(7.6, 4.3), layout="constrained")
for name, (color, line, width) in styles.items():
    ax.plot(
        dimensions, [one[name] for one in found], line, color=color, lw=width, ms=4.5, label=name
    )
ax.set_xscale("log", base=2)
ax.set_xticks(dimensions, dimensions)
ax.minorticks_off()
ax.set(xlabel="dimension r, of 256", ylabel="recall of the 10 nearest", ylim=(0, 1))
ax.grid(axis="y")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# The ratio, dimension by dimension:

for r, ratio in zip(dimensions, ratios, strict=True):
    print(f"r = {r:3}: svd_ratio_ = {ratio:.5f}")
