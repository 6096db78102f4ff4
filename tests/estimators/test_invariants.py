"""What holds for every input, with inputs drawn by hypothesis."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sphericalpca import SphericalPCA

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning"),
]


def projector(X, weight=None, **options):
    """Where 15 iterations lead: no two ways to compute it may part by then."""
    model = SphericalPCA(3, max_iter=15, tol=0, **options).fit(X, sample_weight=weight)
    return model.components_.T @ model.components_


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
@settings(max_examples=20, deadline=None, derandomize=True)
def test_what_says_nothing_of_directions_does_not_matter(seed, normalize, center):
    """The order of rows, a column of zeros; a shift before centring, signs and lengths without."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 6)) * np.arange(6, 0, -1)
    options = {"normalize": normalize, "center": center}
    P, times = projector(X, **options), rng.integers(0, 4, size=25)
    same = [X[rng.permutation(25)], np.insert(X, 6, 0.0, axis=1)]
    if center:
        same.append(X + 10 * rng.standard_normal(6))
    else:
        lengths = 10 ** rng.uniform(-100, 100, size=(25, 1)) if normalize else 1.0
        same.append(X * rng.choice([-1.0, 1.0], size=(25, 1)) * lengths)
    for changed in same:
        found = projector(changed, **options)
        np.testing.assert_allclose(found[:6, :6], P, atol=1e-6)
        np.testing.assert_allclose(found[6:], 0, atol=1e-12)
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    np.testing.assert_allclose(projector(X @ Q, **options), Q.T @ P @ Q, atol=1e-7)
    # A weight is a number of copies.
    assume(np.count_nonzero(times) > 6)
    copied = projector(np.repeat(X, times, axis=0), **options)
    np.testing.assert_allclose(copied, projector(X, times, **options), atol=1e-7)
