"""
The certificate, on easy and on hard data
=========================================

A fit ends at a subspace where the gradient vanishes. Is there a better one elsewhere? `certify`
bounds f over *all* subspaces from above. If the bound equals the value reached, no subspace is
better, up to rounding. Otherwise either there is a better subspace, or the bound is not tight on
these data. The gap is the most that could be gained.
"""

import matplotlib.pyplot as plt
import numpy as np

from sphericalpca import SphericalPCA

n, m, r = 150, 40, 2


def make_rows(noise, seed=0):
    """Rows near a plane, and noise in all directions."""
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) / np.sqrt(r)
    return signal + noise * rng.standard_normal((n, m))


# %%
# Noise grows from hardly any to a cloud with hardly any signal. Each data set is also fitted from
# eight random starts, to see whether any of them beats the fit from the SVD.

levels = np.geomspace(0.1, 12, 13)
gaps, others = [], []
for noise in levels:
    X = make_rows(noise)
    model = SphericalPCA(r).fit(X)
    gaps.append(model.certify(X).gap)
    for seed in range(8):
        other = SphericalPCA(r, init="random", random_state=seed).fit(X)
        others.append((noise, other.mean_cosine_ / model.mean_cosine_ - 1))

# %%
# As long as the signal is visible, the gap is closed: the fit is optimal to six digits, and random
# starts end at the same value. If the data have no dominant direction, the certificate leaves a gap
# of some percent. Random starts then end in many places, mostly below the fit from the SVD,
# sometimes slightly above it, and always within the bound.

figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 3.9), layout="constrained")
left.plot(levels, np.maximum(gaps, 1e-9), "o-", color="#E69F00")
left.axhspan(1e-9, 1e-6, color="#009E73", alpha=0.1, lw=0)
left.text(0.11, 4e-7, "optimal to six digits", color="#00664d", fontsize=9, va="top")
left.text(0.11, 1.6e-9, "1e-9 or less", color="#666666", fontsize=9, va="bottom")
left.set(yscale="log", ylabel="gap = bound / value - 1", title="the gap", ylim=(5e-10, 0.5))

room = 100 * np.array(gaps)
place, difference = np.transpose(others)
right.fill_between(levels, 0, room, color="#E69F00", alpha=0.25, lw=0, label="left open")
right.plot(levels, room, color="#E69F00", label="upper bound for all subspaces")
right.axhline(0, color="#0072B2", label="the fit from the SVD")
right.plot(place, 100 * difference, "x", color="#333333", ms=4, mew=0.8, label="random starts")
right.set(ylabel="mean cosine, difference in %", title="what other starts find")
right.legend(loc="upper left")
for ax in (left, right):
    ax.set(xscale="log", xlabel="noise, in units of the signal")
    ax.grid(axis="y")
plt.show()

# %%
# So a gap that stays open is a reason to try `n_init`, which keeps the best of several starts. Here
# that gains little: most of the gap is due to the bound, not to the fit.

X = make_rows(levels[-1])
for n_init in (1, 50):
    model = SphericalPCA(r, n_init=n_init, random_state=0).fit(X)
    print(f"n_init={n_init:2}: mean cosine {model.mean_cosine_:.4f}")
