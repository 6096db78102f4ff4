"""K-SVD against scikit-learn's matching pursuit, a plain K-SVD, and its laws."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import orthogonal_mp_gram

from sphericalpca import KSVD
from sphericalpca.baselines import pursuit
from sphericalpca.baselines.dictionary import leading_direction, learn_dictionary
from sphericalpca.baselines.pursuit import matching_pursuit


def unit(A):
    return A / np.linalg.norm(A, axis=1, keepdims=True)


def code(X, D, s):
    return matching_pursuit(D @ D.T, X @ D.T, s)


def learn(X, D, s, *, max_iter):
    return learn_dictionary(X, np.linalg.norm(X, axis=1), D, s, tol=0.0, max_iter=max_iter)


def loss(X, C, D):
    return float(((X - C @ D) ** 2).sum())


def planted(shape, atoms, rng, noise=0.0):
    """Rows made of s of k atoms each, and the atoms."""
    (n, m), (k, s) = shape, atoms
    D = unit(rng.standard_normal((k, m)))
    C = np.zeros((n, k))
    for row in C:
        row[rng.choice(k, s, replace=False)] = rng.choice([-1, 1], s) * rng.uniform(1, 2, s)
    return C @ D + noise * rng.standard_normal((n, m)), D


@pytest.fixture
def D(rng):
    return unit(rng.standard_normal((9, 7)))


# Matching pursuit


@pytest.mark.parametrize(("s", "block"), [(1, 10**6), (2, 1), (4, 200), (6, 10**6), (6, 200)])
def test_pursuit_is_that_of_scikit_learn(X, D, s, block, monkeypatch):
    monkeypatch.setattr(pursuit, "BLOCK_ENTRIES", block)
    expected = orthogonal_mp_gram(D @ D.T, (X @ D.T).T, n_nonzero_coefs=s).T
    C = code(X, D, s)
    np.testing.assert_allclose(C, expected, atol=1e-12)
    assert ((C != 0).sum(axis=1) == s).all()
    assert np.abs(((X - C @ D) @ D.T)[C != 0]).max() < 1e-12, "nothing is left along them"


def test_pursuit_with_atoms_that_are_nearly_one(X, rng):
    """Cosines of 0.999 and more, as between rows of positive measurements."""
    D = unit(10 + 0.3 * rng.standard_normal((6, 7)))
    expected = orthogonal_mp_gram(D @ D.T, (X @ D.T).T, n_nonzero_coefs=3).T
    np.testing.assert_allclose(code(X, D, 3), expected, atol=1e-8)


def test_pursuit_ends_when_a_row_is_coded(D):
    rows = np.array([3 * D[2], -2 * D[5], 0 * D[0], 1e-30 * D[1]])
    expected = np.zeros((4, 9))
    expected[0, 2], expected[1, 5], expected[3, 1] = 3, -2, 1e-30
    C = code(rows, D, 5)
    np.testing.assert_allclose(C, expected, atol=1e-14)
    assert ((C != 0).sum(axis=1) == [1, 1, 0, 1]).all()


def test_pursuit_with_atoms_that_depend_on_each_other(X, D):
    """scikit-learn warns here; the codes are finite and as good as those without the copies."""
    double = np.concatenate([D, D, -D[:2]])
    C = code(X, double, 7)
    assert ((C != 0).sum(axis=1) <= 7).all()
    assert loss(X, C, double) == pytest.approx(loss(X, code(X, D, 7), D), abs=1e-10)


# The update of an atom


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(5, 60), (80, 6), (90, 50), (300, 200), (1, 1)])
def test_leading_direction_is_that_of_the_svd(shape, kind, rng):
    n, m = shape
    D = unit(rng.standard_normal((3, m)))
    C = rng.standard_normal((n, 3))
    X = rng.standard_normal((n, m)) * (rng.random((n, m)) < 0.5) + np.outer(C[:, 0], D[1])
    expected = np.linalg.svd(X - C @ D, full_matrices=False)[2][0]
    for start in (D[0], -D[0]):
        found = leading_direction(kind(X), C, D, start)
        assert found @ start >= 0
        np.testing.assert_allclose(np.abs(found @ expected), 1, atol=1e-8)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_leading_direction_where_nothing_is_along_the_start(kind):
    X, axes = np.outer(np.arange(60.0), np.eye(50)[7]), np.eye(50)
    found = leading_direction(kind(X), np.zeros((60, 1)), axes[:1], axes[0])
    np.testing.assert_allclose(np.abs(found), axes[7], atol=1e-12)


def plain_ksvd(X, D, s, max_iter):
    """Word by word, with scikit-learn's pursuit and a full SVD; returns atoms and losses."""
    D, losses = D.copy(), []
    for _ in range(max_iter):
        C = orthogonal_mp_gram(D @ D.T, (X @ D.T).T, n_nonzero_coefs=s).T
        for k in range(len(D)):
            users = C[:, k] != 0
            E = X[users] - C[users] @ D + np.outer(C[users, k], D[k])
            left, singular, right = np.linalg.svd(E, full_matrices=False)
            D[k], C[users, k] = right[0], singular[0] * left[:, 0]
        losses.append(loss(X, C, D))
    return D, losses


def test_agrees_with_a_plain_ksvd(rng):
    X, truth = planted((150, 40), (8, 3), rng, noise=0.05)
    start = unit(truth + 0.1 * rng.standard_normal((8, 40)))
    D, losses = plain_ksvd(X, start, 3, 4)
    found = learn(X, start, 3, max_iter=4)
    np.testing.assert_allclose(found.losses, losses, rtol=1e-7)
    np.testing.assert_allclose(np.abs(found.D @ D.T).max(axis=0), 1, atol=1e-8)


# The laws of a fit


@pytest.mark.parametrize(
    ("k", "s", "kind"),
    [(2, 1, np.asarray), (5, 2, sparse.csr_array), (12, 6, np.asarray), (20, 7, sparse.csr_array)],
)
def test_the_update_of_the_atoms_never_raises_the_loss(X, k, s, kind):
    model = KSVD(k, n_nonzero_coefs=s, random_state=0).fit(kind(X))
    coded, losses = model.history_["coded"], model.history_["loss"]
    assert len(coded) == len(losses) == model.n_iter_ == 30
    assert (losses <= coded + 1e-10 * (X**2).sum()).all()
    assert coded[0] < (X**2).sum()
    assert model.loss_ == losses[-1]
    if s == 1:  # then the greedy codes are the best ones
        assert (np.diff(losses) <= 1e-10 * losses[0]).all()
        assert losses[-1] < losses[0]


def test_atoms_are_unit_and_codes_sparse(X):
    with_zeros = np.concatenate([X, np.zeros((30, 7))])
    model = KSVD(10, random_state=0).fit(with_zeros)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1, atol=1e-12)
    leading = np.abs(model.components_).argmax(axis=1)
    assert (model.components_[np.arange(10), leading] > 0).all()
    assert model.n_nonzero_coefs_ == 5
    C = model.transform(with_zeros)
    assert C.shape == (70, 10)
    assert ((C != 0).sum(axis=1) <= 5).all()
    assert (C[40:] == 0).all(), "zero rows have no codes"
    np.testing.assert_allclose(model.inverse_transform(C), C @ model.components_)


def test_half_of_the_atoms_by_default_and_all_at_most(X):
    for r, s in [(1, 1), (2, 1), (3, 1), (4, 2), (9, 4)]:
        assert KSVD(r, max_iter=1).fit(X).n_nonzero_coefs_ == s
    assert KSVD(3, n_nonzero_coefs=50, max_iter=1).fit(X).n_nonzero_coefs_ == 3


def test_one_atom_with_one_code_is_the_svd(X):
    model = KSVD(1).fit(X)
    singular, right = np.linalg.svd(X)[1:]
    assert model.loss_ == pytest.approx((singular[1:] ** 2).sum())
    assert abs(model.components_[0] @ right[0]) == pytest.approx(1)


def test_one_non_zero_is_clustering_by_line(X):
    """Gain-shape coding: each row goes to the atom of largest |cosine|, and each atom is the
    leading direction of its rows.
    """
    model = KSVD(4, n_nonzero_coefs=1, max_iter=200, random_state=0).fit(X)
    C, D = model.transform(X), model.components_
    products = X @ D.T
    nearest = np.abs(products).argmax(axis=1)
    np.testing.assert_array_equal(np.abs(C).argmax(axis=1), nearest)
    np.testing.assert_allclose(C.sum(axis=1), products[np.arange(40), nearest], atol=1e-12)
    for k in range(4):
        right = np.linalg.svd(X[nearest == k], full_matrices=False)[2]
        assert abs(D[k] @ right[0]) == pytest.approx(1, abs=1e-8)
    expected = (X**2).sum() - (np.abs(products).max(axis=1) ** 2).sum()
    assert model.loss_ == pytest.approx(expected)


def test_a_planted_dictionary_is_found(rng):
    X, truth = planted((1200, 20), (30, 3), rng, noise=0.01)
    model = KSVD(30, n_nonzero_coefs=3, max_iter=60, random_state=0).fit(X)
    found = np.abs(truth @ model.components_.T).max(axis=1)
    assert (found > 0.99).mean() > 0.8  # the authors report the like for 20 x 50, 3 non-zeros
    by_chance = np.abs(truth @ unit(X[:30]).T).max(axis=1)
    assert (by_chance > 0.99).mean() < 0.1


def test_unused_atoms_become_the_worst_rows(rng):
    """Two atoms along an axis that no row has, and two groups that no atom has."""
    X = np.repeat(np.eye(4)[:3], 10, axis=0) * rng.uniform(1, 2, (30, 1))
    D = np.eye(4)[[0, 3, 3]]
    found = learn(X, D, 1, max_iter=2)
    np.testing.assert_allclose(np.sort(found.D.argmax(axis=1)), [0, 1, 2])
    assert found.losses[1] < 1e-12 < found.losses[0]


@pytest.mark.parametrize("sign", [1, -1])
def test_of_two_atoms_that_are_one_the_first_remains(sign):
    """Each is in use, by rows on either side of it, while another group has no atom at all."""
    side = np.repeat([1e-5, -1e-5], 5)[:, None]
    X = np.concatenate([np.eye(4)[[0] * 10] + side * np.eye(4)[1], np.eye(4)[[2] * 7]])
    D = unit(X[[0, 5]]) * [[1], [sign]]
    found = learn(X, D, 1, max_iter=2)
    # Its codes are handed over: nothing but the group without an atom is lost, ...
    assert found.losses[0] == pytest.approx(7, rel=1e-6)
    # ... and the atom set free is there for that group.
    assert found.losses[1] < 1e-6
    np.testing.assert_allclose(np.abs(found.D), np.eye(4)[[0, 2]], atol=1e-4)


def test_atoms_without_work_do_not_keep_it_running():
    """Three lines, eight atoms: rounding errors are not rows to be represented."""
    for seed in range(8):
        X, _ = planted((100, 6), (3, 1), np.random.default_rng(seed))
        assert KSVD(8, n_nonzero_coefs=1, tol=1e-6, random_state=0).fit(X).n_iter_ < 30


def test_more_atoms_than_distinct_rows():
    X = np.array([[1.0, 0, 0], [2, 0, 0], [0, 1, 0], [0, 3, 0], [0, 0, 0]])
    model = KSVD(5, n_nonzero_coefs=1, tol=1e-6, random_state=0).fit(X)
    assert model.loss_ == pytest.approx(0, abs=1e-20)
    assert np.isfinite(model.components_).all()
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-12)


def test_scale_of_the_data_goes_to_the_codes(X):
    model = KSVD(4, max_iter=5, random_state=0).fit(X)
    for scale in (1e-50, 1e40):
        scaled = KSVD(4, max_iter=5, random_state=0).fit(scale * X)
        np.testing.assert_allclose(scaled.components_, model.components_, atol=1e-8)
        codes = scaled.transform(scale * X) / scale
        np.testing.assert_allclose(codes, model.transform(X), atol=1e-7)


def test_stopping_early_and_running_out(X):
    early = KSVD(3, tol=1e-2, random_state=0).fit(X)
    assert early.n_iter_ < 30
    changes = np.abs(np.diff(early.history_["loss"])) / early.history_["loss"][:-1]
    assert changes[-1] <= 1e-2 < changes[:-1].min()
    with pytest.warns(ConvergenceWarning, match="in 2 iterations .*tol 1e-15.*raise max_iter"):
        KSVD(6, tol=1e-15, max_iter=2, random_state=0).fit(X)
