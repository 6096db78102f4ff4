"""Speed by counting: passes over the data and flops of products with it, never seconds.

Every case was solved once by ``solver="auto"`` and the counts written down, with some 30 % of
room: rounding and other versions of BLAS may add a step.  To renew them after a change that
makes them smaller, run

    pytest tests/test_regressions.py -rP

which shows what each case took, and write down those numbers times 1.3.  Flops come in units
of one pass of exact alternation, 4 x stored numbers x r; only products with the data count,
so a start by way of the Gram matrix (2 x stored x m) shows up in full.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from paper.datasets import load_newsgroups
from sphericalpca import SphericalPCA


@dataclass(frozen=True)
class Limit:
    """What ``solver="auto"`` may take, and by which factor alternation must take more."""

    r: int
    passes: float
    flops: float
    ratio: float
    init: str = "auto"


def _spiked(rng):
    low = rng.standard_normal((2000, 5)) @ rng.standard_normal((5, 200))
    return low + 4.0 * rng.standard_normal((2000, 200))


def _power_law(rng, n=1500, m=400):
    return rng.standard_normal((n, m)) * np.arange(1, m + 1) ** -0.3


def _power_law_single(rng):
    return _power_law(rng).astype(np.float32)


def _clusters(rng):
    centres = rng.standard_normal((12, 300))
    return centres[rng.integers(12, size=1500)] + 1.5 * rng.standard_normal((1500, 300))


def _isotropic(rng):
    return rng.standard_normal((3000, 40))


def _text(rng, n=3000, m=4000, words=60):
    """Words drawn from Zipf's law, shuffled a little by topic; sublinear counts, float32."""
    share = 1.0 / np.arange(3, m + 3)
    topics = share * rng.gamma(0.3, size=(15, m))
    topics /= topics.sum(axis=1, keepdims=True)
    columns = np.concatenate(
        [rng.choice(m, size=words, p=topics[t]) for t in rng.integers(15, size=n)]
    )
    counts = sparse.coo_array(
        (np.ones(n * words, np.float32), (np.repeat(np.arange(n), words), columns)), shape=(n, m)
    ).tocsr()
    counts.data = 1 + np.log(counts.data)
    return counts


CASES = {
    "spiked": (_spiked, Limit(5, passes=5.5, flops=30, ratio=1.2)),
    "power law": (_power_law, Limit(20, passes=13, flops=25, ratio=10)),
    "power law, float32": (_power_law_single, Limit(20, passes=13, flops=25, ratio=10)),
    "clusters": (_clusters, Limit(11, passes=9.5, flops=25.5, ratio=4)),
    "isotropic": (_isotropic, Limit(2, passes=69, flops=81, ratio=2)),
    # Blocks of the SVD have eight columns more than there are components.
    "text": (_text, Limit(10, passes=14.5, flops=18.5, ratio=3.5)),
    "random start": (_power_law, Limit(10, passes=19.5, flops=19.5, ratio=2.5, init="random")),
}


def _fit(X, limit, solver="auto", **options):
    options = {"init": limit.init, "random_state": 0, "max_iter": 3000, **options}
    return SphericalPCA(limit.r, solver=solver, **options).fit(X)


def _units(model, X):
    stored = X.nnz if sparse.issparse(X) else X.size
    return model.history_["flops"][-1] / (4 * stored * len(model.components_))


def _report(name, model, X):
    """Shown by ``-rP``, to renew the limits from."""
    solver, passes = type(model.solver_).__name__, model.n_passes_
    print(f"{name}: {solver}, {passes:g} passes, {_units(model, X):.1f} units")  # noqa: T201


@pytest.mark.parametrize("name", CASES, ids=lambda name: name.replace(" ", "_"))
def test_auto_stays_within_its_passes_and_flops(name):
    make, limit = CASES[name]
    X = make(np.random.default_rng(0))
    model, slow = _fit(X, limit), _fit(X, limit, "alternating")
    _report(name, model, X)
    _report(name, slow, X)
    assert model.stop_reason_ == slow.stop_reason_ == "converged"
    assert model.residual_ <= model.tol == 1e-4
    assert model.n_passes_ <= limit.passes
    assert _units(model, X) <= limit.flops
    # Were the data easier than they were, the limits would say nothing.
    assert slow.n_passes_ >= limit.ratio * model.n_passes_
    assert model.loss_ <= slow.loss_ * (1 + 1e-4)


def _drawn_text(texts):
    """4,000 documents, words of document-frequency rank 200 to 2199, unit rows."""
    chosen = np.random.default_rng(0).choice(len(texts), 4000, replace=False)
    vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True)
    X = vectorizer.fit_transform([texts[i] for i in chosen])
    ranked = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
    return normalize(X[:, ranked[200:2200]])


@pytest.fixture(scope="module")
def texts(data_home):
    return load_newsgroups(data_home).texts


@pytest.fixture(scope="module")
def full_text(texts):
    return TfidfVectorizer(min_df=2, sublinear_tf=True, dtype=np.float32).fit_transform(texts)


@pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning")
def test_drawn_newsgroups_stay_within_their_passes(texts):
    """20 components to a residual of 1e-4; twelve reads are for an exact SVD."""
    X = _drawn_text(texts)
    for solver, limit in (("auto", 48), ("subspace", 28)):
        model = _fit(X, Limit(20, limit, np.inf, 1), solver)
        assert model.n_features_in_ == 2000
        assert model.stop_reason_ == "converged"
        assert model.n_passes_ <= limit


@pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning")
@pytest.mark.parametrize(
    ("solver", "r", "passes"), [("auto", 20, 32), ("anderson", 2, 18), ("subspace", 2, 18)]
)
def test_all_newsgroups_stay_within_their_passes(full_text, solver, r, passes):
    """Sums over 75,875 features: made in float32 they stop the residual of two at 1.4e-4."""
    assert full_text.shape == (18_846, 75_875)
    model = _fit(full_text, Limit(r, passes, np.inf, 1), solver)
    _report(solver, model, full_text)
    assert model.stop_reason_ == "converged"
    assert model.n_passes_ <= passes
