"""
Topics on a sphere
==================

A unit vector of three numbers is a point on a sphere, so a collection of texts can be looked at as
a globe: texts on the same subject form a country, and the distance between two texts is the angle
between them. Here are the docstrings of numpy, scipy and scikit-learn, in eight groups by topic,
reduced to three dimensions in two ways: by a truncated SVD whose rows are then scaled to length
one, and by Spherical PCA.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import orthogonal_procrustes
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from sphericalpca import SphericalPCA
from sphericalpca.datasets import load_docstrings
from sphericalpca.metrics import clustering_accuracy
from sphericalpca.plotting import SphereDisplay

corpus = load_docstrings()
X = TfidfVectorizer(
    max_df=0.5, min_df=5, stop_words="english", sublinear_tf=True, token_pattern="[a-z]{3,}"
).fit_transform(corpus.texts)
topics = np.array(corpus.group_names)[corpus.labels]

# %%
# k-means with ten restarts is run ten times on the output of each method. The accuracy is the share
# of texts in the cluster that is matched with their topic.

methods = {
    "SVD, then unit rows": make_pipeline(TruncatedSVD(3, random_state=0), Normalizer()),
    "Spherical PCA": SphericalPCA(3, random_state=0),
}
globes, right = {}, {}
for name, method in methods.items():
    globes[name] = method.fit_transform(X)
    found = [KMeans(8, n_init=10, random_state=s).fit_predict(globes[name]) for s in range(10)]
    right[name] = np.mean([clustering_accuracy(corpus.labels, clusters) for clusters in found])
    print(f"{name}: k-means accuracy {right[name]:.1%}")

# %%
# The SVD's globe is rotated to match the other one as well as possible, which changes no distance.
# On the SVD's globe four topics overlap at the right; on that of Spherical PCA machine learning and
# special functions are separated.

turn, _ = orthogonal_procrustes(*globes.values())
globes["SVD, then unit rows"] = globes["SVD, then unit rows"] @ turn
figure = plt.figure(figsize=(10.6, 3.4))
for place, (name, V) in enumerate(globes.items()):
    ax = figure.add_axes((0.43 * place, -0.02, 0.41, 0.95), projection="3d")
    SphereDisplay(V, labels=topics).plot(ax=ax, scatter_kwargs={"s": 10, "alpha": 0.8})
    ax.view_init(azim=0, elev=12)
    for pin in (ax.lines[0], ax.texts[0]):  # of v1, which points at the reader
        pin.set_visible(False)
    ax.set_title(f"{name}: k-means accuracy {right[name]:.0%}", fontsize=11)
    ax.get_legend().set_visible(place == 1)
plt.show()

# %%
# With as many dimensions as topics, both give equally good clusters (see :doc:`plot_text`): the
# subspaces still differ, but both contain what k-means needs. `svd_ratio_`, f at
# the SVD over the one reached, is far below 0.9999 here and warns that the subspaces differ.

print(f"svd_ratio_ = {methods['Spherical PCA'].svd_ratio_:.4f}")
