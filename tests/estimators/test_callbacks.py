"""Progress and early stop through scikit-learn's callbacks (1.9 and later)."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV

from sphericalpca import SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Linearized

callback = pytest.importorskip("sklearn.callback")


@pytest.mark.parametrize("solver", ["alternating", "linearized"])
def test_begin_and_end_of_each_iteration_are_seen(X, solver, callback_recorder):
    recorder = callback_recorder()
    model = SphericalPCA(3, solver=solver, tol=5e-3).set_callbacks(recorder)
    V = model.fit_transform(X)
    iterations = [(what, "iteration", k) for k in range(model.n_iter_) for what in ("begin", "end")]
    assert recorder.events == [
        ("setup", "fit"),
        ("begin", "fit", 0),
        *iterations,
        ("end", "fit", 0),
        ("teardown", "fit"),
    ]
    assert model.n_iter_ > 1
    plain = SphericalPCA(3, solver=solver, tol=5e-3)
    np.testing.assert_array_equal(V, plain.fit_transform(X))
    # No context is left on the fitted estimator, and a clone keeps its callbacks.
    assert set(vars(model)) - set(vars(plain)) == {"_skl_callbacks"}
    copy = clone(model)
    assert len(copy._skl_callbacks) == 1
    copy.fit(X)
    assert copy._skl_callbacks[0].events[-1] == ("teardown", "fit")


def test_iterations_of_all_starts_are_numbered_in_turn(X, callback_recorder):
    recorder = callback_recorder()
    model = SphericalPCA(2, n_init=3, random_state=0).set_callbacks(recorder).fit(X)
    ended = [e[2] for e in recorder.events if e[:2] == ("end", "iteration")]
    assert ended == list(range(len(ended)))
    assert len(ended) > model.n_iter_
    recorder = callback_recorder(stop=2)
    model = SphericalPCA(2, n_init=5, tol=1e-12, random_state=0).set_callbacks(recorder).fit(X)
    assert model.stop_reason_ == "callback"
    ended = [e for e in recorder.events if e[:2] == ("end", "iteration")]
    assert len(ended) == 2, "a stop skips the starts to come"


@pytest.mark.parametrize("solver", ["alternating", "linearized", Linearized("block", "block")])
def test_a_callback_can_stop_the_fit(X, solver, callback_recorder):
    """No warning: it is what the user asked for."""
    stop = callback_recorder(stop=3)
    model = SphericalPCA(3, solver=solver, tol=1e-12).set_callbacks(stop).fit(X)
    assert model.stop_reason_ == "callback"
    assert model.n_iter_ == 3
    assert all(len(record) == 3 for record in model.history_.values())
    with pytest.warns(ConvergenceWarning):
        same = SphericalPCA(3, solver=solver, tol=1e-12, max_iter=3).fit(X)
    np.testing.assert_array_equal(model.components_, same.components_)
    np.testing.assert_array_equal(model.transform(X), same.transform(X))
    assert model.score(X) == pytest.approx(model.mean_cosine_)
    assert model.certify(X).gap >= 0


@pytest.mark.parametrize("broken", ["data", "callback"])
def test_callbacks_are_torn_down_when_a_fit_fails(X, broken, callback_recorder):
    class Raises(callback_recorder):
        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("no")

    recorder, other = callback_recorder(), (Raises if broken == "callback" else callback_recorder)()
    init = "auto" if broken == "callback" else np.ones((3, 3))
    model = SphericalPCA(2, init=init).set_callbacks(recorder, other)
    with pytest.raises((ValueError, RuntimeError)):
        model.fit(X)
    assert recorder.events[0][0] == "setup"
    assert recorder.events[-1][0] == "teardown"
    assert not hasattr(model, "_callback_fit_ctx")


def test_progress_bars_reach_the_estimator(X, capfd):
    pytest.importorskip("rich")
    model = SphericalPCA(3).set_callbacks(callback.ProgressBar()).fit(X)
    assert model.stop_reason_ == "converged"
    assert "SphericalPCA" in capfd.readouterr().out
    search = GridSearchCV(SphericalPCA(), {"n_components": [1, 2]}, cv=2)
    search.set_callbacks(callback.ProgressBar()).fit(X)
    assert search.best_params_ == {"n_components": 2}
    assert "SphericalPCA" in capfd.readouterr().out


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_scoring_monitor_sees_every_iteration_and_changes_nothing(X, weight, solver):
    options = {"solver": solver, "tol": 5e-2, "init": "random", "random_state": 0}
    monitor = callback.ScoringMonitor(scoring={"cosine": check_scoring(SphericalPCA(3))})
    model = SphericalPCA(3, **options).set_callbacks(monitor)
    model.fit(X, np.zeros(40), sample_weight=weight)
    rows = [r for r in monitor.get_logs().data if r["task_name"] == "iteration"]
    assert len(rows) == model.n_iter_
    scores = [r["cosine"] for r in rows]
    assert (np.diff(scores) >= -1e-12).all()
    assert scores[-1] == pytest.approx(model.mean_cosine_)
    plain = SphericalPCA(3, **options).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(model.components_, plain.components_)
    np.testing.assert_array_equal(model.history_["loss"], plain.history_["loss"])
    assert model.n_passes_ == plain.n_passes_, "reads for a callback do not count for the solver"
