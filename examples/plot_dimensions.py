"""
How many components?
====================

Components are ordered by weight, and the first q of a fit are close to what a fit with q
components finds. So one fit with many components answers the question for all smaller numbers:
`truncate` keeps the first q without a new fit, and `score` gives their mean cosine.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from sphericalpca import SphericalPCA
from sphericalpca.datasets import load_docstrings
from sphericalpca.plotting import ComponentWeightsDisplay

digits = load_digits().data
texts = TfidfVectorizer(min_df=10, stop_words="english").fit_transform(load_docstrings().texts)

# %%
# There are two kinds of data: digits, which are dense and nearly low-dimensional, and texts, which
# are neither. A part of the rows is held out of the fit. Their mean cosine tells when further
# components serve the training rows only.


def curve(X, sizes):
    """Mean cosine of the fitted and of new rows, for each number of components."""
    train, new = train_test_split(X, test_size=0.3, random_state=0)
    model = SphericalPCA(sizes[-1], tol=1e-3, random_state=0).fit(train)
    short = [model.truncate(q) for q in sizes]
    return [one.score(train) for one in short], [one.score(new) for one in short]


sizes = {"digits": [1, 2, 3, 5, 8, 12, 20, 30, 40], "texts": [2, 5, 10, 20, 40, 70, 100, 150]}
data = {"digits": digits, "texts": texts}
curves = {name: curve(data[name], sizes[name]) for name in data}

# %%
# With ten components digits keep a mean cosine above 0.95, and new images are served as well as
# those of the fit. For texts the curve has no knee, and the gain on new texts falls behind. The
# data themselves do not name a right number: the task has to.

figure, panels = plt.subplots(1, 2, figsize=(9.8, 3.8), sharey=True, layout="constrained")
for ax, (name, (train, new)) in zip(panels, curves.items(), strict=True):
    ax.plot(sizes[name], train, "o-", ms=4.5, label="rows of the fit")
    ax.plot(sizes[name], new, "s--", ms=4.5, label="new rows")
    ax.set(
        xlabel="components kept", title=f"{name}, {data[name].shape[1]} features", ylim=(0, 1.03)
    )
    ax.grid(axis="y")
panels[0].set_ylabel("mean cosine")
panels[0].legend(loc="lower right")
plt.show()

# %%
# How close is a truncated model to one that was fitted with q components? On text, the harder case:

large = SphericalPCA(100, tol=1e-3, random_state=0).fit(texts)
for q in (10, 40):
    fresh = SphericalPCA(q, tol=1e-3, random_state=0).fit(texts)
    kept = large.truncate(q).score(texts) / fresh.mean_cosine_
    print(f"q = {q}: truncation keeps {kept:.1%} of the mean cosine of a fit at q")

# %%
# The weights tell how evenly the unit vectors use their coordinates. Those of digits rely on the
# first, because all images share a direction.

ComponentWeightsDisplay.from_estimator(SphericalPCA(12).fit(digits))
plt.show()
