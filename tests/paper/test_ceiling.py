"""Ceilings of NMI against brute force: all labelings, and the best mixture of them."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from paper.ceiling import nmi_ceiling
from sphericalpca.metrics import clustering_accuracy, nmi

NORMALISATIONS = ["max", "arithmetic", "geometric", "min"]
SIZES = [(1, 1), (2, 1), (3, 3), (1, 5), (5, 2), (4, 4)]


@cache
def _all_labelings(sizes, normalisation):
    """Accuracy and NMI of every clustering into two clusters, by the measures themselves."""
    true = np.repeat([0, 1], sizes)
    found = {
        (
            clustering_accuracy(true, pred),
            round(nmi(true, pred, normalisation=normalisation), 12),
        )
        for pred in product([0, 1], repeat=len(true))
    }
    return np.array(sorted(found)).T


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_ceiling_is_the_best_of_all_labelings_of_that_accuracy(sizes, normalisation):
    accuracies, values = _all_labelings(sizes, normalisation)
    options = {"normalisation": normalisation, "rounding": 0.0}
    for accuracy in np.unique(accuracies):
        best = values[accuracies == accuracy].max()
        assert nmi_ceiling(accuracy, sizes, **options) == pytest.approx(best, abs=1e-11)
    # Between two attainable accuracies there is no clustering.
    n = sum(sizes)
    assert math.isnan(nmi_ceiling(1 - 0.5 / n, sizes, **options))


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_mean_ceiling_is_the_best_mixture_of_all_labelings(sizes, normalisation):
    accuracies, values = _all_labelings(sizes, normalisation)
    for accuracy in np.linspace(accuracies.min(), 1, 9):
        mixture = linprog(
            -values,
            A_eq=[accuracies, np.ones_like(accuracies)],
            b_eq=[accuracy, 1.0],
        )
        options = {"normalisation": normalisation, "rounding": 0.0, "mean": True}
        found = nmi_ceiling(accuracy, sizes, **options)
        assert found == pytest.approx(-mixture.fun, abs=1e-8)


@pytest.mark.parametrize("mean", [False, True])
def test_rounding_takes_the_best_accuracy_that_rounds_to_the_one_given(mean):
    # 12 of 16 is 0.75 and 13 of 16 is 0.8125: within 0.04 of 0.78 lie both.
    exact = [nmi_ceiling(k / 16, (10, 6), rounding=0.0, mean=mean) for k in (12, 13)]
    rounded = nmi_ceiling(0.78, (10, 6), rounding=0.04, mean=mean)
    if mean:
        assert rounded == pytest.approx(nmi_ceiling(0.82, (10, 6), rounding=0.0, mean=True))
        assert rounded >= max(exact)
    else:
        assert rounded == max(exact)


def test_printed_digits_leave_room_on_both_sides():
    # 11 of 16 is 0.6875, printed 0.688 by some and 0.687 by others.
    exact = nmi_ceiling(11 / 16, (10, 6), rounding=0.0)
    assert nmi_ceiling(0.688, (10, 6)) == nmi_ceiling(0.687, (10, 6)) == exact


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from(NORMALISATIONS))
@settings(deadline=None, max_examples=40)
def test_laws_of_the_ceilings(n_1, n_2, normalisation):
    n = n_1 + n_2
    accuracies = np.arange((n + 1) // 2, n + 1) / n
    options = {"normalisation": normalisation, "rounding": 0.0}
    single, mean = (
        np.array([nmi_ceiling(a, (n_1, n_2), mean=m, **options) for a in accuracies])
        for m in (False, True)
    )
    assert single[-1] == pytest.approx(1.0)
    assert mean[-1] == pytest.approx(1.0)
    assert (mean >= single - 1e-12).all()
    # The envelope rises and bends down.
    assert (np.diff(mean) >= -1e-9).all()
    assert (np.diff(mean, 2) <= 1e-9).all()
    turned = [nmi_ceiling(a, (n_2, n_1), **options) for a in accuracies]
    np.testing.assert_allclose(turned, single, atol=1e-12)


@given(st.integers(0, 10**6), st.sampled_from(NORMALISATIONS), st.floats(0.02, 0.98))
@settings(deadline=None, max_examples=60)
def test_no_clustering_of_the_papers_size_beats_its_ceiling(seed, normalisation, spread):
    rng = np.random.default_rng(seed)
    true = np.repeat([0, 1], [500, 268])
    pred = np.where(rng.random(768) < spread * rng.random(), 1 - true, true)
    accuracy = clustering_accuracy(true, pred)
    value = nmi(true, pred, normalisation=normalisation)
    options = {"normalisation": normalisation, "rounding": 0.0}
    assert value <= nmi_ceiling(accuracy, (500, 268), **options) + 1e-12


@pytest.mark.parametrize("sizes", [(5,), (5, 5, 5), (5, 0), (5, 2.5), (-1, 4)], ids=str)
def test_other_than_two_classes_are_refused(sizes):
    with pytest.raises(ValueError, match=r"class_sizes=.* two classes and two clusters only"):
        nmi_ceiling(0.9, sizes)


@pytest.mark.parametrize("accuracy", [0.3, 1.1, -1, math.nan, math.inf])
@pytest.mark.parametrize("mean", [False, True])
def test_an_accuracy_that_no_matching_has_is_refused(accuracy, mean):
    with pytest.raises(ValueError, match=r"accuracy=.* must be from 0\.5 to 1"):
        nmi_ceiling(accuracy, (6, 4), mean=mean)


@pytest.mark.parametrize("rounding", [-0.1, math.nan, math.inf])
def test_an_impossible_rounding_is_refused(rounding):
    with pytest.raises(ValueError, match="rounding="):
        nmi_ceiling(0.8, (6, 4), rounding=rounding)


def test_an_unknown_normalisation_is_refused():
    with pytest.raises(ValueError, match=r"normalisation='mean' must be one of 'max'"):
        nmi_ceiling(0.8, (5, 5), normalisation="mean")
