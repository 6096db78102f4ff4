"""No saddle at the start is called converged."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sphericalpca import SphericalPCA
from sphericalpca.problem import Problem
from sphericalpca.rows import as_rows
from sphericalpca.saddle import way_up

E = np.eye(3)
LEANING = np.vstack([[E[0]] * 3, [E[1]] * 3, [[0, 0.1, 0.995]], [[0, -0.1, 0.995]]])


def _best_plane(X, count=400):
    """The mean cosine of the best plane of R^3, by its normal vector on a fine grid."""
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    polar, turn = np.meshgrid(
        np.linspace(0, np.pi / 2, count), np.linspace(0, 2 * np.pi, 2 * count)
    )
    normals = [np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)]
    heights = X @ np.stack([part.ravel() for part in normals])
    return float(np.sqrt(np.maximum(1 - heights**2, 0)).mean(axis=0).max())


def _leaves(solver, noise, dtype=np.float64):
    X = LEANING + noise * np.random.default_rng(1).standard_normal(LEANING.shape)
    model = SphericalPCA(2, solver=solver, max_iter=3000).fit(X.astype(dtype))
    assert model.mean_cosine_ >= _best_plane(LEANING) - 3e-3
    assert model.svd_ratio_ < 0.99
    assert (np.diff(model.history_["loss"]) <= 1e-5).all()


def test_every_solver_leaves_the_saddle_of_leaning_rows(solver):
    for noise in (0.0, 1e-6):
        _leaves(solver, noise)


def test_single_precision_leaves_it_too():
    _leaves("auto", 0.0, np.float32)


@pytest.mark.parametrize("tol", [0, 1e-20, 1e-10])
@pytest.mark.parametrize("solver", ["alternating", "anderson", "subspace", "newton"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_small_tolerance_or_none_does_not_hold_a_fit(solver, tol):
    """Nor does the second saddle, of .8273, on the way; the first counts for no stagnation."""
    for dtype in (np.float64, np.float32):
        X = LEANING.astype(dtype)
        model = SphericalPCA(2, solver=solver, tol=tol, max_iter=200).fit(X)
        assert model.mean_cosine_ >= _best_plane(LEANING) - 1e-5
        assert model.svd_ratio_ < 0.94
    if tol == 1e-10:
        model.fit(LEANING)
        assert model.stop_reason_ == "converged"


def test_a_fit_that_ends_on_a_saddle_for_want_of_iterations_says_so(tmp_path):
    for _ in range(2):  # also if it is taken up again
        with pytest.warns(ConvergenceWarning):
            model = SphericalPCA(2, max_iter=1, init="svd").fit(
                LEANING, checkpoint=tmp_path / "run.npz"
            )
        assert (model.stop_reason_, model.n_iter_) == ("max_iter", 1)
    model.set_params(max_iter=100).fit(LEANING, checkpoint=tmp_path / "run.npz")
    assert model.stop_reason_ == "converged"
    assert model.mean_cosine_ >= _best_plane(LEANING) - 1e-5


def test_images_and_their_mirror_images_do_not_hold_a_fit():
    rows = np.array([[0, 0.3, 0.95], [1, 0, 0], [0, 1, 0]])
    mirrored = np.vstack([rows, rows * [1, 1, -1]])
    model = SphericalPCA(2, init="svd").fit(mirrored)
    assert model.history_["residual"][0] < 1e-12  # the SVD is a saddle
    assert model.mean_cosine_ == pytest.approx(_best_plane(mirrored), abs=1e-3)


def test_a_maximum_is_left_alone(rng):
    """Also one that no other subspace can exceed, since all rows are in it."""
    problem = Problem(as_rows(rng.standard_normal((60, 3)) * [3.0, 1.0, 0.5]))
    model = SphericalPCA(1, tol=1e-10, n_init=5, random_state=0)
    best = model.fit(problem.rows._X).components_.T
    assert way_up(problem, best) is None
    assert way_up(problem, np.eye(3)) is None
    passes = problem.rows.passes
    assert way_up(Problem(as_rows(np.zeros((3, 2)) + 1.0)), np.full((2, 1), np.sqrt(0.5))) is None
    assert problem.rows.passes == passes


def test_a_fit_that_moves_pays_nothing():
    X = np.random.default_rng(0).standard_normal((50, 6))
    model = SphericalPCA(2, solver="alternating").fit(X)
    assert model.n_iter_ > 1
    assert model.n_passes_ <= model.n_iter_ + 3  # the SVD, the start and the closing V step
