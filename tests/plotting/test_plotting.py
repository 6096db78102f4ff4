"""Displays hold the data of their picture, draw them, and draw them again."""

from __future__ import annotations

import subprocess
import sys
import warnings

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from sphericalpca import (
    KSVD,
    MissingExtraError,
    NoDirectionWarning,
    SphericalKMeans,
    SphericalPCA,
    choose_components,
)
from sphericalpca.datasets import make_toy
from sphericalpca.plotting import (
    ComponentWeightsDisplay,
    ConvergenceDisplay,
    DimensionsDisplay,
    SphereDisplay,
)
from sphericalpca.plotting.style import PALETTE, group_colors, new_figure, save_picture
from sphericalpca.solvers import Linearized


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 3)) @ rng.standard_normal((3, 8)) + 0.3 * rng.random((60, 8))


@pytest.fixture(scope="module")
def model(X):
    return SphericalPCA(3).fit(X)


@pytest.fixture(scope="module")
def runs(X):
    solvers = {"theory": Linearized(), "block": Linearized("block", "block"), "exact": "auto"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return {
            name: SphericalPCA(2, solver=solver, init="random", random_state=0, max_iter=25).fit(X)
            for name, solver in solvers.items()
        }


def texts_of(artist):
    return [text.get_text() for text in artist]


class TestConvergence:
    def test_gap_is_loss_above_the_best_of_all(self, runs):
        display = ConvergenceDisplay.from_estimators(runs)
        best = min(run.loss_ for run in runs.values())
        assert display.best <= best
        np.testing.assert_allclose(display.best, best, rtol=1e-12)
        for name, line in zip(runs, display.lines_, strict=True):
            history = runs[name].history_
            np.testing.assert_array_equal(line.get_xdata(), history["passes"])
            drawn = ~np.isnan(line.get_ydata())
            gap = history["loss"] - best
            np.testing.assert_allclose(line.get_ydata()[drawn], gap[drawn], atol=1e-10)
            assert (gap[~drawn] < 1e-10).all()
        ax = display.ax_
        assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")
        assert ax.get_xlabel() == "passes over the data"
        assert ax.get_ylabel() == "loss above the best reached"
        assert texts_of(ax.get_legend().get_texts()) == list(runs)
        assert len({line.get_color() for line in display.lines_}) == 3
        assert len({line.get_linestyle() for line in display.lines_}) == 3

    def test_best_counts_the_closing_step(self, runs):
        """Algorithm 1's own V lags behind; the fit ends on the best V."""
        display = ConvergenceDisplay.from_estimator(runs["theory"])
        assert display.best < runs["theory"].history_["loss"].min()
        assert display.best == runs["theory"].loss_
        truncated = ConvergenceDisplay.from_estimator(runs["exact"].truncate(1))
        assert truncated.best == runs["exact"].history_["loss"].min()

    def test_other_quantities_against_seconds(self, runs):
        pair = {name: runs[name] for name in ("theory", "block")}
        for quantity in ("residual", "delta_U", "delta_V"):
            options = {"quantity": quantity, "against": "seconds"}
            display = ConvergenceDisplay.from_estimators(pair, **options)
            assert display.ax_.get_xlabel() == "seconds"
            for run, line in zip(pair.values(), display.lines_, strict=True):
                np.testing.assert_array_equal(line.get_xdata(), run.history_["seconds"])
                np.testing.assert_array_equal(line.get_ydata(), run.history_[quantity])

    def test_one_fit_needs_no_legend(self, runs):
        display = ConvergenceDisplay.from_estimator(runs["exact"], name="mine", xscale="log")
        assert display.ax_.get_legend() is None
        assert display.ax_.get_xscale() == "log"
        assert list(display.histories) == ["mine"]

    @pytest.mark.parametrize(
        ("option", "rule"),
        [
            ({"quantity": "speed"}, "quantity='speed' must be one of gap, residual"),
            ({"against": "hours"}, "against='hours' must be one of passes, seconds"),
            ({"xscale": "curved"}, "xscale='curved' must be one of linear, log"),
            ({"quantity": "delta_V"}, r"'exact' has no 'delta_V'.*solver='linearized'"),
        ],
    )
    def test_unknown_choice(self, runs, option, rule):
        with pytest.raises(ValueError, match=rule):
            ConvergenceDisplay.from_estimators(runs, **option)
        assert plt.get_fignums() == []

    def test_nothing_to_draw(self):
        with pytest.raises(ValueError, match="at least one fit"):
            ConvergenceDisplay.from_estimators({})
        with pytest.raises(TypeError, match="list, but must map names"):
            ConvergenceDisplay.from_estimators([SphericalPCA()])
        with pytest.raises(ValueError, match="by hand"):
            ConvergenceDisplay({"by hand": {"loss": []}})

    def test_a_fit_that_begins_at_its_best_says_so(self):
        history = {"loss": np.ones(1), "residual": np.full(1, 1e-5), "passes": np.array([3])}
        display = ConvergenceDisplay({"one": history}).plot()
        assert "residual" in display.ax_.texts[0].get_text()
        assert not ConvergenceDisplay({"one": history}).plot(quantity="residual").ax_.texts

    @pytest.mark.parametrize(
        ("model", "missing"),
        [(SphericalPCA(2), "loss"), (SphericalKMeans(2), "loss"), (KSVD(2), "passes")],
        ids=lambda value: type(value).__name__,
    )
    def test_a_fit_without_such_a_history_is_refused_by_name(self, model, missing):
        X, _ = make_toy(random_state=0)
        learn = model.partial_fit if isinstance(model, SphericalPCA) else model.fit
        with pytest.raises(ValueError, match=f"'mine' has no '{missing}'"):
            ConvergenceDisplay.from_estimator(learn(X), name="mine")


class TestComponentWeights:
    def test_bars_and_running_sum(self, model):
        display = ComponentWeightsDisplay.from_estimator(model)
        heights = [bar.get_height() for bar in display.bars_]
        np.testing.assert_array_equal(heights, model.component_weights_)
        np.testing.assert_allclose(display.line_.get_ydata(), np.cumsum(heights))
        np.testing.assert_allclose(display.line_.get_ydata()[-1], 1.0)
        np.testing.assert_array_equal(display.line_.get_xdata(), [1, 2, 3])
        assert display.ax_.get_xlabel() == "component"
        assert display.ax_.get_ylabel() == "share of each component"
        assert display.cumulative_ax_.get_ylabel() == "cumulative share"
        _, ax = plt.subplots()
        assert display.plot(ax=ax) is display
        assert (display.ax_, display.figure_) == (ax, ax.figure)
        assert len(ax.patches) == 3

    @pytest.mark.parametrize("r", [1, 2, 3, 10, 20, 100])
    def test_everything_is_in_the_picture(self, r):
        weights = np.arange(r, 0, -1.0) / (r * (r + 1) / 2)
        display = ComponentWeightsDisplay(weights).plot()
        left, right = display.ax_.get_xlim()
        for bar in display.bars_:
            assert left <= bar.get_x() < bar.get_x() + bar.get_width() <= right
        # The tallest bar fills a good part of the height, and all of it is seen.
        assert 0.25 < weights.max() / display.ax_.get_ylim()[1] < 1
        ticks = display.ax_.get_xticks()
        assert len(ticks) <= 16
        np.testing.assert_array_equal(ticks, np.round(ticks))

    def test_what_are_no_weights_is_refused(self):
        for weights in ([], [[0.5, 0.5]], [0.5, np.nan], [np.inf], 1.0):
            with pytest.raises(ValueError, match="finite numbers, one for each component"):
                ComponentWeightsDisplay(weights)


class TestSphere:
    @pytest.mark.parametrize("r", [2, 3])
    def test_points_are_the_components(self, X, r):
        model = SphericalPCA(r).fit(X)
        display = SphereDisplay.from_estimator(model, X)
        np.testing.assert_array_equal(display.V, model.transform(X))
        np.testing.assert_allclose(np.linalg.norm(display.V, axis=1), 1)
        np.testing.assert_allclose(_positions(display), display.V)
        assert display.labels is None
        ax = display.ax_
        assert ax.get_legend() is None
        names = [ax.get_xlabel(), ax.get_ylabel(), *([ax.get_zlabel()] if r == 3 else [])]
        assert names == [f"component {axis + 1}" for axis in range(r)]
        if r == 2:
            assert ax.get_aspect() == 1
        else:
            assert set(texts_of(ax.texts)) == {"$v_1$", "$v_2$", "$v_3$"}

    @pytest.mark.parametrize("pole", [*np.eye(3), *-np.eye(3)])
    def test_samples_face_the_viewer(self, pole):
        near = pole + 0.1 * np.random.default_rng(0).standard_normal((20, 3))
        V = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)
        ax = SphereDisplay(V).plot().ax_
        azimuth, elevation = np.radians([ax.azim, ax.elev])
        flat = np.cos(elevation)
        camera = [flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)]
        assert (V @ camera > 0.7).all()

    @pytest.mark.parametrize("labels", [[0, 1] * 30, ["b", "a", "c"] * 20])
    def test_groups_have_their_colours(self, model, X, labels):
        display = SphereDisplay.from_estimator(model.truncate(2), X, labels)
        names = sorted(set(labels))
        colors = [to_hex(color).upper() for color in display.points_.get_facecolors()]
        assert colors == [PALETTE[names.index(label)] for label in labels]
        legend = display.ax_.get_legend()
        assert texts_of(legend.get_texts()) == [str(name) for name in names]
        handles = [to_hex(handle.get_color()).upper() for handle in legend.legend_handles]
        assert handles == list(PALETTE[: len(names)])

    def test_many_groups_stay_apart(self, model, X):
        display = SphereDisplay.from_estimator(model, X, np.arange(60))
        assert len({to_hex(color) for color in group_colors(60)}) == 60
        assert display.ax_.get_legend() is None

    def test_replot_elsewhere_and_options(self, model, X):
        display = SphereDisplay.from_estimator(model, X, scatter_kwargs={"s": 4})
        ax = plt.figure().add_subplot(projection="3d")
        assert display.plot(ax=ax, scatter_kwargs={"s": 9}) is display
        assert (display.ax_, display.figure_) == (ax, ax.figure)
        np.testing.assert_allclose(_positions(display), display.V)
        np.testing.assert_array_equal(np.unique(display.points_._sizes3d), [9])

    def test_rows_without_direction_are_not_drawn(self):
        X, labels = make_toy(10, random_state=0)
        X[3] = 0
        with pytest.warns(NoDirectionWarning):
            model = SphericalPCA(2).fit(X)
        with pytest.warns(NoDirectionWarning):
            display = SphereDisplay.from_estimator(model, X, labels)
        assert len(_positions(display)) == 19
        np.testing.assert_allclose(np.linalg.norm(_positions(display), axis=1), 1)

    def test_bad_arguments(self, model, X):
        for r, remedy in ((1, "fit with n_components=2 or 3"), (4, r"truncate\(3\)")):
            with pytest.raises(ValueError, match=f"n_components={r} .* r = 2 .* r = 3 .*{remedy}"):
                SphereDisplay.from_estimator(SphericalPCA(r).fit(X), X)
        with pytest.raises(ValueError, match=r"shape \(3,\).*60 samples"):
            SphereDisplay.from_estimator(model, X, [0, 1, 2])
        with pytest.raises(ValueError, match="shape"):
            SphereDisplay(np.ones(3))
        with pytest.raises(ValueError, match="projection='3d'"):
            SphereDisplay.from_estimator(model, X, ax=plt.subplots()[1])


def _positions(display):
    points = display.points_
    return points.get_offsets() if display.V.shape[1] == 2 else np.transpose(points._offsets3d)


class TestDimensions:
    def test_it_shows_the_numbers_of_the_choice(self):
        choice = choose_components(load_digits().data, recall=0.6, queries=100, random_state=0)
        display = choice.plot()
        assert isinstance(display, DimensionsDisplay)
        drawn = {"recall": display.recall_line_, "mean_cosine": display.cosine_line_}
        for name, line in drawn.items():
            np.testing.assert_array_equal(line.get_xdata(), choice.column("n_components"))
            np.testing.assert_array_equal(line.get_ydata(), choice.column(name))
        svd = choice.column("svd_recall")
        np.testing.assert_array_equal(display.svd_line_.get_ydata(), svd[np.isfinite(svd)])
        assert display.svd_line_.get_linestyle() == "None"  # nothing where it was not measured
        assert display.chosen == choice.n_components
        assert texts_of(display.ax_.texts) == [f"r = {choice.n_components}"]
        labels = texts_of(display.ax_.get_legend().get_texts())
        assert labels == ["recall@10", "SVD + unit rows", "mean cosine"]
        _, ax = plt.subplots()
        assert display.plot(ax=ax) is display
        assert (display.ax_, display.figure_) == (ax, ax.figure)
        assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "components")

    def test_numbers_of_ones_own(self):
        display = DimensionsDisplay([8, 16], [0.5, 0.7], [0.4, 0.6], [0.6, 0.8], [0.7, 0.9]).plot()
        assert display.svd_line_ is None
        assert not display.ax_.texts
        assert display.ax_.get_legend().get_texts()[0].get_text() == "recall"
        display.figure_.canvas.draw()


DRAW = [
    lambda model, X: ConvergenceDisplay.from_estimator(model),
    lambda model, X: ComponentWeightsDisplay.from_estimator(model),
    SphereDisplay.from_estimator,
]


def test_models_must_be_fitted_matplotlib_be_there_and_its_settings_stay(model, X, monkeypatch):
    before = dict(mpl.rcParams)
    for draw in DRAW:
        draw(model, X)
        with pytest.raises(NotFittedError):
            draw(SphericalPCA(3), X)
    assert dict(mpl.rcParams) == before
    for module in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)
    for draw in DRAW:
        with pytest.raises(MissingExtraError, match=r"Plotting needs matplotlib.*\[plot\]"):
            draw(model, X)


def test_import_does_not_load_matplotlib():
    code = "import sphericalpca.plotting, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_picture_replaces_an_older_one_or_leaves_it(tmp_path, monkeypatch):
    path = tmp_path / "picture.png"
    path.write_text("old")
    figure = new_figure((2, 1))

    def half(name, **_):
        name.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(figure, "savefig", half)
    with pytest.raises(KeyboardInterrupt):
        save_picture(figure, path)
    assert path.read_text() == "old"
    save_picture(new_figure((2, 1)), path, dpi=50)
    assert plt.imread(path).shape[:2] == (50, 100)
    assert list(tmp_path.iterdir()) == [path]
    assert plt.get_fignums() == []
