"""Ceilings of NMI against brute force: all labelings, and the best mixture of them."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from paper.ceiling import nmi_ceiling
from sphericalpca.metrics import clustering_accuracy, nmi

NORMALISATIONS = ["max", "arithmetic", "geometric", "min"]
SIZES = [(2, 1), (3, 3), (1, 5), (5, 2)]


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
def test_the_ceiling_is_the_best_of_all_labelings_of_that_accuracy(normalisation):
    options = {"normalisation": normalisation, "rounding": 0.0}
    for sizes in SIZES:
        accuracies, values = _all_labelings(sizes, normalisation)
        for accuracy in np.unique(accuracies):
            best = values[accuracies == accuracy].max()
            assert nmi_ceiling(accuracy, sizes, **options) == pytest.approx(best, abs=1e-11)
        # Between two attainable accuracies there is no clustering.
        assert math.isnan(nmi_ceiling(1 - 0.5 / sum(sizes), sizes, **options))


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_the_mean_ceiling_is_the_best_mixture_of_all_labelings(normalisation):
    options = {"normalisation": normalisation, "rounding": 0.0, "mean": True}
    for sizes in SIZES:
        accuracies, values = _all_labelings(sizes, normalisation)
        for accuracy in np.linspace(accuracies.min(), 1, 5):
            weights = [accuracies, np.ones_like(accuracies)]
            mixture = linprog(-values, A_eq=weights, b_eq=[accuracy, 1.0])
            found = nmi_ceiling(accuracy, sizes, **options)
            assert found == pytest.approx(-mixture.fun, abs=1e-8)


def test_rounding_takes_the_best_accuracy_that_rounds_to_the_one_given():
    # 12 of 16 is 0.75 and 13 of 16 is 0.8125: within 0.04 of 0.78 lie both.
    exact = [nmi_ceiling(k / 16, (10, 6), rounding=0.0) for k in (11, 12, 13)]
    assert nmi_ceiling(0.78, (10, 6), rounding=0.04) == max(exact[1:])
    mean = nmi_ceiling(0.78, (10, 6), rounding=0.04, mean=True)
    assert mean == pytest.approx(nmi_ceiling(0.82, (10, 6), rounding=0.0, mean=True))
    # 11 of 16 is 0.6875, printed 0.688 by some and 0.687 by others.
    assert nmi_ceiling(0.688, (10, 6)) == nmi_ceiling(0.687, (10, 6)) == exact[0]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        *(({"class_sizes": s}, "class_sizes=.* two") for s in ((5,), (5, 5, 5), (5, 0), (5, 2.5))),
        *(({"accuracy": a}, r"must be from 0\.5 to 1") for a in (0.3, 1.1, math.nan, math.inf)),
        ({"accuracy": 0.3, "mean": True}, r"accuracy=.* must be from 0\.5 to 1"),
        *(({"rounding": rounding}, "rounding=") for rounding in (-0.1, math.nan, math.inf)),
        ({"normalisation": "mean"}, r"normalisation='mean' must be one of max, "),
    ],
)
def test_what_has_no_ceiling_is_refused(options, reason):
    given = {"accuracy": 0.9, "class_sizes": (6, 4), **options}
    with pytest.raises(ValueError, match=reason):
        nmi_ceiling(given.pop("accuracy"), given.pop("class_sizes"), **given)
