"""The estimator among scikit-learn's tools."""

import logging
import pickle
import re

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sphericalpca import SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Alternating, Linearized, Subspace


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_pipeline_of_text():
    texts = ["cat dog", "dog cat mouse", "cat mouse", "star moon", "moon sun star", "sun moon"]
    pipeline = make_pipeline(TfidfVectorizer(), SphericalPCA(2), KMeans(2, random_state=0))
    labels = pipeline.fit_predict(texts)
    assert len(set(labels[:3])) == len(set(labels[3:])) == 1
    assert labels[0] != labels[3]


def test_grid_search_uses_score(X):
    """A solver object is one parameter among others."""
    grid = {"n_components": [1, 2, 5], "solver": [Alternating(), Linearized("block", "block")]}
    search = GridSearchCV(SphericalPCA(tol=1e-2), grid, cv=4).fit(X)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 6
    assert (np.diff(scores[::2]) > 0).all()  # more components never point further away
    assert search.best_params_["n_components"] == 5
    assert search.score(X) == pytest.approx(search.best_estimator_.mean_cosine_)
    first = SphericalPCA(1, tol=1e-2, solver="alternating").fit(X[10:]).score(X[:10])
    assert search.cv_results_["split0_test_score"][0] == pytest.approx(first)


def test_set_output_pandas(X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, index=[f"row{j}" for j in range(40)])
    frame.columns = [f"c{k}" for k in range(7)]
    model = SphericalPCA(2).set_output(transform="pandas")
    for V in (model.fit_transform(frame), model.transform(frame)):
        assert isinstance(V, pandas.DataFrame)
        assert list(V.columns) == ["sphericalpca0", "sphericalpca1"]
        assert list(V.index) == list(frame.index)
    np.testing.assert_allclose(V.to_numpy(), SphericalPCA(2).fit_transform(X), atol=1e-12)
    assert model.inverse_transform(V).shape == (40, 7)
    assert list(model.truncate(1).transform(frame).columns) == ["sphericalpca0"]


def test_weights_are_routed_to_fit_and_score_of_a_search(X, weight, routing):
    """What the search found is what the estimator finds by hand with the same weights."""
    with pytest.raises(ValueError, match="sample_weight"):  # nobody asked for them
        GridSearchCV(SphericalPCA(), {"n_components": [1]}, cv=4).fit(X, sample_weight=weight)
    model = SphericalPCA().set_fit_request(sample_weight=True)
    model.set_score_request(sample_weight=True)
    search = GridSearchCV(model, {"n_components": [1, 2]}, cv=4).fit(X, sample_weight=weight)
    by_hand = SphericalPCA(1).fit(X[10:], sample_weight=weight[10:])
    expected = by_hand.score(X[:10], sample_weight=weight[:10])
    assert search.cv_results_["split0_test_score"][0] == pytest.approx(expected)
    final = SphericalPCA(2).fit(X, sample_weight=weight)
    np.testing.assert_allclose(search.best_estimator_.components_, final.components_)


@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_convergence_warning_says_where_it_stands_and_what_to_do(X, method):
    model = SphericalPCA(3, max_iter=2, tol=1e-9)
    with pytest.warns(ConvergenceWarning) as caught:
        getattr(model, method)(X)
    (warning,) = caught
    message = str(warning.message)
    assert "in 2 iterations" in message
    assert "tol 1e-09" in message
    reached = float(re.search(r"residual (\S+?),? ", message)[1])
    assert reached == pytest.approx(model.residual_, rel=1e-2)
    for remedy in ("max_iter", "tol", "solver"):
        assert remedy in message.partition("raise")[2]
    assert warning.filename == __file__, "the warning must point at the caller's line"


def test_the_warning_blames_tol_0_and_float32_only_where_they_ended_the_fit():
    X = np.random.default_rng(0).standard_normal((60, 8)).astype(np.float32)
    with pytest.warns(ConvergenceWarning, match=r"residual .*tol=0.*set tol > 0"):
        SphericalPCA(3, max_iter=2, tol=0).fit(X)
    with pytest.warns(ConvergenceWarning, match="raise max_iter, raise tol") as caught:
        SphericalPCA(3, tol=1e-12, max_iter=1, random_state=0).fit(X)
    assert "float32" not in str(caught[0].message)
    with pytest.warns(ConvergenceWarning, match="rounding errors of float32 allow"):
        SphericalPCA(3, tol=1e-12, max_iter=300, random_state=0).fit(X)


@pytest.mark.parametrize("options", [{}, {"n_init": 3}, {"solver": "linearized", "tol": 0.5}])
def test_exactly_one_info_line_per_fit(X, caplog, capfd, options):
    model = SphericalPCA(3, random_state=0, **options)
    for method in (model.fit, model.fit_transform):
        caplog.clear()
        with caplog.at_level(logging.DEBUG, logger="sphericalpca"):
            method(X)
            (record,) = caplog.records
            for silent in (model.transform, model.score, model.certify):
                silent(X)
            model.truncate(1)
        assert caplog.records == [record]
        assert record.name == "sphericalpca"
        assert record.levelno == logging.INFO
        line = record.getMessage()
        assert "\n" not in line
        for fact in ("40 x 7", "r=3", model.stop_reason_, f"{model.n_iter_} iteration"):
            assert fact in line, line
    assert capfd.readouterr() == ("", ""), "nothing is printed"


@pytest.mark.parametrize(
    ("via", "options"),
    [
        ("pickle", {"center": True}),
        ("pickle", {"solver": "newton"}),
        ("joblib", {}),
        ("joblib", {"solver": Linearized("block", "block")}),
        *[
            ("skops", {"solver": s})
            for s in (Subspace(columns=8), Linearized("block", "block"), "newton")
        ],
        ("skops", {"center": True}),
    ],
    ids=str,
)
def test_a_stored_model_gives_identical_results(X, tmp_path, via, options):
    model = SphericalPCA(3, **options).fit(X)
    if via == "pickle":
        loaded = pickle.loads(pickle.dumps(model))
    elif via == "skops":
        skops = pytest.importorskip("skops.io")
        stored = skops.dumps(model)
        ours = skops.get_untrusted_types(data=stored)
        # Nothing but classes of this package has to be trusted.
        assert all(name.startswith("sphericalpca.") for name in ours)
        loaded = skops.loads(stored, trusted=ours)
    else:
        joblib.dump(model, tmp_path / "model.joblib")
        loaded = joblib.load(tmp_path / "model.joblib")
    V = model.transform(X)
    np.testing.assert_array_equal(loaded.transform(X), V)
    np.testing.assert_array_equal(loaded.inverse_transform(V), model.inverse_transform(V))
    assert loaded.score(X) == model.score(X)
    assert loaded.certify(X) == model.certify(X)
    assert vars(loaded).keys() == vars(model).keys()
    np.testing.assert_equal(loaded.history_, model.history_)
    assert loaded.solver_ == model.solver_
    assert loaded.n_passes_ == model.n_passes_


def test_solver_objects_and_names_agree(X):
    for name, entry in SOLVERS.items():
        kind = entry.load()
        by_name = SphericalPCA(solver=name, tol=1e-2).fit(X)
        by_object = SphericalPCA(solver=kind(), tol=1e-2).fit(X)
        np.testing.assert_array_equal(by_name.components_, by_object.components_)
        assert by_name.solver_ == by_object.solver_ == kind()
        assert by_name.solver == name  # the parameter stays what the user gave
    auto = SphericalPCA(tol=1e-2).fit(X)
    assert set(auto.history_) >= {"loss", "residual", "passes", "flops", "seconds"}


class TwoAtOnce:
    """A solver of a user's own: init and step are all that it needs."""

    def init(self, problem, start):
        return Alternating().init(problem, start)

    def step(self, problem, state):
        once = Alternating().step(problem, state)
        return Alternating().step(problem, once)


def test_a_solver_of_ones_own(X, caplog):
    with caplog.at_level(logging.INFO, logger="sphericalpca"):
        model = SphericalPCA(3, solver=TwoAtOnce()).fit(X)
    expected = SphericalPCA(3, solver="alternating").fit(X)
    assert model.n_iter_ == (expected.n_iter_ + 1) // 2
    assert model.score(X) == pytest.approx(expected.score(X), rel=1e-6)
    assert "TwoAtOnce" in caplog.text
