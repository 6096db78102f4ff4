"""
When does it differ from SVD + unit rows?
=========================================

The SVD maximises the sum of *squared* cosines between rows and their images, Spherical PCA the sum
of the cosines themselves. If all rows are about equally near the subspace, both find the same one.
If some rows are near and others far, squares favour those that are already near.

So the methods differ if the spectrum is flat around r, so that many subspaces are nearly as good,
and if the rows are heterogeneous. Text has both properties.
"""

import matplotlib.pyplot as plt
import numpy as np

from sphericalpca import SphericalPCA

# %%
# Two families of data. In the first all rows are of one kind, Gaussian with singular values that
# decay like k to the power -a. In the second every row uses only a few of 100 directions, some
# directions more often than others, as documents use words.


def one_kind(a, n=3000, m=100, seed=0):
    """Gaussian rows with a spectrum of power -a."""
    spectrum = np.arange(1, m + 1) ** -a
    return np.random.default_rng(seed).standard_normal((n, m)) * spectrum


def many_kinds(a, n=3000, m=100, seed=0):
    """Rows with five entries each; how often a column is used has power -a."""
    rng = np.random.default_rng(seed)
    often = np.arange(1, m + 1) ** -a
    chosen = rng.choice(m, size=(n, 5), p=often / often.sum())
    X = np.zeros((n, m))
    np.add.at(X, (np.arange(n)[:, None], chosen), rng.gamma(1.0, size=(n, 5)))
    return X


powers = np.linspace(0, 1.5, 13)
losses = {"rows of one kind": [], "rows of few words each": []}
for a in powers:
    for lost, make in zip(losses.values(), (one_kind, many_kinds), strict=True):
        lost.append(1 - SphericalPCA(5).fit(make(a)).svd_ratio_)

# %%
# The figure shows what the SVD loses at r = 5, in percent of f. With homogeneous rows it loses
# little: at a decay of 0.5 the ratio is 0.9999. With few words per row it loses several percent,
# soon hundreds of times as much, and less only if a few directions are so strong that both methods
# must include them.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, loss), style in zip(losses.items(), ("o-", "s-"), strict=True):
    (line,) = ax.plot(powers, 100 * np.array(loss), style, ms=5)
    ax.text(0.72, 135 * loss[6], name, color=line.get_color(), va="bottom", fontsize=10)
ax.axhline(0.01, color="#999999", lw=0.8)
ax.text(1.5, 0.0107, "svd_ratio_ = 0.9999", ha="right", va="bottom", color="#666666", fontsize=9)
ax.set(xlabel="decay of the spectrum", ylabel="100 (1 - svd_ratio_)", yscale="log")
ax.set_title("what the SVD loses")
ax.grid(axis="y")
plt.show()
