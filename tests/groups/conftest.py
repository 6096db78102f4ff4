"""A small page of groups, with what hostile texts may hold."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from sphericalpca import TextClusters

EVIL = "</script><img src=x onerror=alert(1)>{{ 7 * 7 }}&\"'<!--"
ODD = "line\u2028paragraph\u2029 nul\0 half\ud800 right\u202eleft \x1b[31m \ufffe end"


def make(n=200, k=4, *, seed=0, **changes):
    """Points around k directions; the first text is hostile, the last has no known word."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, 3))
    group = np.arange(n) % k
    sphere = centres[group] + 0.1 * rng.normal(size=(n, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    group[-1], sphere[-1] = -1, 0.0
    cosine, margin = rng.uniform(0.2, 0.9, n), rng.uniform(0.0, 0.3, n)
    cosine[-1] = margin[-1] = 0.0
    excerpts = [f"needle{i} says number {i} of group {group[i]}" for i in range(n)]
    excerpts[:2] = [EVIL, ODD][:n]
    ids = [EVIL if i == 2 else f"id/{i}" for i in range(n)]
    data = SimpleNamespace(
        title=EVIL,
        source="texts.csv",
        groups=[described(i, ids, excerpts, np.flatnonzero(group == i), k) for i in range(k)],
        sphere=sphere.astype(np.float32),
        plane=rng.normal(size=(n, 2)).astype(np.float32),
        group=group,
        cosine=cosine,
        margin=margin,
        excerpts=excerpts,
        ids=ids,
        n_texts=n,
        mean_cosine=0.5,
        svd_ratio=0.98,
        uncertain=0.05,
        tree=linkage(centres, "average") * [1, 1, 20, 1] if k > 1 else None,
        curve=[(i, i / 10, i / 10 - 0.05, i / 10 + 0.05) for i in range(2, 8)],
        settings={"k": k, "text": EVIL},
        versions={"sphericalpca": "0.0"},
        problems={"malformed lines": {"count": 3, "lines": (7, 19)}},
        unit="line",
        unassigned=[(ids[-1], excerpts[-1])],
    )
    return SimpleNamespace(**vars(data) | changes)


def described(label, ids, excerpts, rows, k):
    numbers = {"cosine": 0.9, "margin": 0.3, "other": (label + 1) % k}
    texts = [{"id": ids[i], "excerpt": excerpts[i]} | numbers for i in rows]
    words = [(EVIL if label == 0 else f"word{label}{c}", 1 / (j + 1)) for j, c in enumerate("abcd")]
    known = {"label": label, "words": words, "size": len(rows), "mean_cosine": 0.5}
    return known | {"typical": texts[:2], "borderline": texts[-2:]}


@pytest.fixture(scope="session")
def made():
    return make


@pytest.fixture(scope="session")
def evil():
    return EVIL


def topics(k=4, n=240, *, seed=0, share=0.5, length=30):
    """Texts of k topics with words of each topic among common words; and the topics."""
    rng = np.random.default_rng(seed)
    own = rng.dirichlet(np.full(400, 0.05), k)
    common = 1 / np.arange(1, 401)
    labels = rng.integers(k, size=n)
    texts = []
    for label in labels:
        m = rng.binomial(length, share)
        mine = [f"topic{label}word{w}" for w in rng.choice(400, m, p=own[label])]
        others = rng.choice(400, length - m, p=common / common.sum())
        texts.append(" ".join([*mine, *(f"common{w}" for w in others)]))
    return texts, labels


@pytest.fixture(scope="session")
def corpus():
    return topics()


@pytest.fixture(scope="session")
def make_topics():
    return topics


@pytest.fixture(scope="session")
def clusters(corpus):
    return TextClusters(4).fit(corpus[0])
