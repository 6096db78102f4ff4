"""Model files and checkpoints that version 0.1 wrote are still read.

The files were written by version 0.1.0 from the first 120 digits: checkpoints of runs that were cut
short after 4 iterations, with the end of the whole run of 8 beside each, and three models.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from sphericalpca import SphericalPCA
from sphericalpca.registry.solvers import SOLVERS

FILES = Path(__file__).parent / "version-0.1"
X = load_digits().data[:120]


@pytest.mark.parametrize(
    "solver", [path.stem.removesuffix("-end") for path in FILES.glob("*-end.npz")]
)
def test_a_checkpoint_goes_on_to_the_same_end(solver, tmp_path):
    checkpoint = shutil.copy(FILES / f"{solver}.npz", tmp_path)
    model = SphericalPCA(3, solver=solver, init="random", random_state=0, max_iter=8, tol=1e-12)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, checkpoint=checkpoint)
    whole = np.load(FILES / f"{solver}-end.npz")
    assert model.n_iter_ == 8
    np.testing.assert_allclose(model.history_["loss"], whole["loss"], rtol=1e-9)
    np.testing.assert_allclose(model.components_, whole["U"], atol=1e-6)


def test_every_solver_of_version_0_1_is_still_here():
    assert {"alternating", "anderson", "subspace", "newton", "linearized"} <= set(SOLVERS)


@pytest.mark.parametrize(("name", "options"), [("model", {}), ("centred", {"center": True})])
def test_a_model_is_the_one_that_was_saved(name, options):
    model = SphericalPCA.load(FILES / f"{name}.safetensors")
    again = SphericalPCA(model.n_components, random_state=0, **options).fit(X)
    assert model.get_params()["n_components"] == model.n_components_
    np.testing.assert_allclose(model.components_, again.components_, atol=1e-4)
    assert model.loss_ == pytest.approx(again.loss_, rel=1e-6)
    assert model.history_["loss"][-1] == pytest.approx(model.loss_, rel=1e-6)
    assert model.score(X) == pytest.approx(model.mean_cosine_)
    assert (model.mean_ is None) == (name == "model")


def test_a_stream_goes_on(tmp_path):
    model = SphericalPCA.load(FILES / "stream.safetensors")
    assert model.stop_reason_ == "stream"
    assert model.total_weight_ == len(X)
    before = model.components_.copy()
    model.partial_fit(X[:50])
    assert model.n_samples_ == len(X) + 50
    assert not np.array_equal(model.components_, before)
