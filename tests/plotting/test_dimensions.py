"""The curve of a choice, drawn from its numbers."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_digits

from sphericalpca import choose_components
from sphericalpca.plotting import DimensionsDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def choice():
    return choose_components(load_digits().data, recall=0.6, queries=100, random_state=0)


def test_it_shows_the_numbers_of_the_choice(choice):
    display = choice.plot()
    assert isinstance(display, DimensionsDisplay)
    for line, name in (
        (display.recall_line_, "recall"),
        (display.cosine_line_, "mean_cosine"),
    ):
        np.testing.assert_array_equal(line.get_xdata(), choice.column("n_components"))
        np.testing.assert_array_equal(line.get_ydata(), choice.column(name))
    known = np.isfinite(choice.column("svd_recall"))
    np.testing.assert_array_equal(display.svd_line_.get_ydata(), choice.column("svd_recall")[known])
    assert display.svd_line_.get_linestyle() == "None"  # nothing where it was not measured
    assert display.chosen == choice.n_components
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == [f"r = {choice.n_components}"]
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["recall@10", "SVD + unit rows", "mean cosine"]


def test_drawn_again_elsewhere(choice):
    display = choice.plot()
    _, ax = plt.subplots()
    assert display.plot(ax=ax) is display
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel() == "components"


def test_numbers_of_ones_own():
    display = DimensionsDisplay([8, 16], [0.5, 0.7], [0.4, 0.6], [0.6, 0.8], [0.7, 0.9]).plot()
    assert display.svd_line_ is None
    assert not display.ax_.texts
    assert display.ax_.get_legend().get_texts()[0].get_text() == "recall"
    display.figure_.canvas.draw()
