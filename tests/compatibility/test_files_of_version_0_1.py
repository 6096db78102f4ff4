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
from sphericalpca.modelfile import read_model
from sphericalpca.registry.solvers import with_current_names

ADDED = {"newton": {"hessian_products", "radius"}, "subspace": {"small_iterations"}}
FILES = Path(__file__).parent / "version-0.1"


@pytest.fixture(scope="module")
def X():
    return load_digits().data[:120]


@pytest.mark.parametrize(
    "solver", [path.stem.removesuffix("-end") for path in FILES.glob("*-end.npz")]
)
def test_a_checkpoint_goes_on_to_the_same_end(X, solver, tmp_path):
    checkpoint = shutil.copy(FILES / f"{solver}.npz", tmp_path)
    model = SphericalPCA(3, solver=solver, init="random", random_state=0, max_iter=8, tol=1e-12)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, checkpoint=checkpoint)
    whole = np.load(FILES / f"{solver}-end.npz")
    assert model.n_iter_ == 8
    np.testing.assert_allclose(model.history_["loss"], whole["loss"], rtol=1e-9)
    np.testing.assert_allclose(model.components_, whole["U"], atol=1e-6)
    begun, added = np.load(FILES / f"{solver}.npz"), ADDED.get(solver, set())
    assert added <= set(model.history_)
    assert "inner" not in model.history_
    for name in added - {"radius"}:
        np.testing.assert_array_equal(model.history_[name][:4], begun["history.inner"])
        assert model.history_[name].shape == (8,)


@pytest.mark.parametrize(("name", "options"), [("model", {}), ("centred", {"center": True})])
def test_a_model_is_the_one_that_was_saved(X, name, options):
    model = SphericalPCA.load(FILES / f"{name}.safetensors")
    again = SphericalPCA(model.n_components, random_state=0, **options).fit(X)
    assert model.get_params()["n_components"] == model.n_components_
    np.testing.assert_allclose(model.components_, again.components_, atol=1e-3)
    assert model.loss_ == pytest.approx(again.loss_, rel=1e-6)
    assert model.history_["loss"][-1] == pytest.approx(model.loss_, rel=1e-6)
    assert model.score(X) == pytest.approx(model.mean_cosine_)
    assert (model.mean_ is None) == (name == "model")


def test_hessian_products_of_a_model_have_their_name():
    path = FILES / "centred.safetensors"
    history = SphericalPCA.load(path).history_
    assert set(history) == {"loss", "residual", "passes", "flops", "seconds"} | ADDED["newton"]
    _, arrays = read_model(path)
    np.testing.assert_array_equal(history["hessian_products"], arrays["history.inner"])


def test_the_solver_decides_what_inner_was():
    old = {"history.inner": 1, "best.history.inner": 2, "history.objective": 3, "state.U": 4}
    for solver, name in {
        "Subspace": "small_iterations",
        "Subspace(columns=None)": "small_iterations",
        "Newton": "hessian_products",
        "Newton(switch=0.01)": "hessian_products",
        "Mine": "inner",
    }.items():
        new = {f"history.{name}": 1, f"best.history.{name}": 2, "history.loss": 3, "state.U": 4}
        assert with_current_names(old, solver) == new


def test_a_stream_goes_on(X):
    model = SphericalPCA.load(FILES / "stream.safetensors")
    assert model.stop_reason_ == "stream"
    assert model.total_weight_ == len(X)
    before = model.components_.copy()
    model.partial_fit(X[:50])
    assert model.n_samples_ == len(X) + 50
    assert not np.array_equal(model.components_, before)
