"""
Clustering texts
================

The usual recipe for clustering documents is tf-idf, truncated SVD, unit rows, k-means. Spherical
PCA takes the place of the two steps in the middle. It finds the subspace in which documents keep
the largest mean cosine with their images, where the SVD finds the one with the largest mean
squared cosine. On text the two differ.

The documents are the docstrings of numpy, scipy and scikit-learn, in eight groups by topic. They
come with every installation, and they depend on its versions: numbers may differ a little on your
machine.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from sphericalpca import SphericalPCA
from sphericalpca.datasets import load_docstrings
from sphericalpca.metrics import nmi

corpus = load_docstrings()
vectorizer = TfidfVectorizer(
    max_df=0.5, min_df=5, stop_words="english", sublinear_tf=True, token_pattern="[a-z]{3,}"
)
X = vectorizer.fit_transform(corpus.texts)
print(f"{X.shape[0]} documents, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} of them in each")

# %%
# Both methods at several dimensions, each clustered from six random starts of k-means.

dimensions = (2, 4, 8, 16, 32)
scores = {"SVD + unit rows": [], "Spherical PCA": []}
ratios = []
for r in dimensions:
    spherical = SphericalPCA(r, tol=1e-3, random_state=0)
    svd = make_pipeline(TruncatedSVD(r, random_state=0), Normalizer(copy=False))
    for name, method in {"SVD + unit rows": svd, "Spherical PCA": spherical}.items():
        V = method.fit_transform(X)
        starts = [KMeans(8, n_init=1, random_state=seed).fit_predict(V) for seed in range(6)]
        scores[name].append([nmi(corpus.labels, found) for found in starts])
    ratios.append(spherical.svd_ratio_)

# %%
# Lines are means over the starts, bands show one standard deviation. At two and four dimensions
# Spherical PCA is well ahead. With as many dimensions as topics, or more, neither method is
# consistently ahead: the differences are of the size of the noise of k-means. The ratio on the
# right indicates, without any labels, that the subspaces differ: it is far below 0.9999 everywhere.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.7), layout="constrained")
for name, color in {"SVD + unit rows": "#D55E00", "Spherical PCA": "#0072B2"}.items():
    mean, spread = np.mean(scores[name], axis=1), np.std(scores[name], axis=1)
    left.plot(dimensions, mean, "o-", color=color, label=name)
    left.fill_between(dimensions, mean - spread, mean + spread, color=color, alpha=0.15, lw=0)
left.set(xlabel="dimension r", ylabel="NMI with the eight topics", title="clusters found")
left.legend(loc="lower right")
right.plot(dimensions, ratios, "o-", color="#009E73")
right.axhline(1, color="#999999", lw=0.8)
right.text(2, 1.0005, "a plain SVD is enough", color="#666666", fontsize=9, va="bottom")
right.set(xlabel="dimension r", ylabel="svd_ratio_", title="does the method matter here?")
right.set_ylim(top=1.004)
for ax in (left, right):
    ax.set_xscale("log", base=2)
    ax.set_xticks(dimensions, dimensions)
    ax.grid(axis="y")
plt.show()

# %%
# A component is a direction in the space of words. Rotation and signs are fixed: the second moments
# of the components form a diagonal matrix, whose entries decrease, and the largest loading of each
# is positive. So components can be interpreted one by one. Some are topics, others are the
# boilerplate that docstrings share.

model = SphericalPCA(8, tol=1e-3, random_state=0).fit(X)
words = vectorizer.get_feature_names_out()
for share, component in zip(model.component_weights_, model.components_, strict=True):
    leading = words[np.argsort(-component)[:7]]
    print(f"{share:5.1%}  {', '.join(leading)}")
