"""Measures of clusterings against brute force: all matchings, all labelings, all signs."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sphericalpca.metrics import (
    PairedDifference,
    clustering_accuracy,
    holm,
    match_clusters,
    nmi,
    paired_difference,
)

pairs_of_labels = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
    )
)


def _best_of_all_matchings(true, pred):
    """Rename clusters in every way; names beyond those of the groups match nothing."""
    groups, clusters = sorted(set(true)), sorted(set(pred))
    names = groups + [None] * len(clusters)
    found = 0
    for chosen in set(permutations(names, len(clusters))):
        new = dict(zip(clusters, chosen, strict=True))
        found = max(found, sum(new[c] == g for g, c in zip(true, pred, strict=True)))
    return found / len(true)


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, 2), min_size=n, max_size=n)] * 2)
    )
)
@settings(deadline=None, max_examples=40)
def test_accuracy_is_that_of_the_best_of_all_matchings(labels):
    assert clustering_accuracy(*labels) == pytest.approx(_best_of_all_matchings(*labels))


@given(pairs_of_labels, st.permutations(range(5)))
@settings(deadline=None, max_examples=40)
def test_names_and_order_do_not_matter_and_only_the_same_partition_has_measure_one(labels, names):
    true, pred = map(np.array, labels)
    renamed = np.array(list("pqrst"))[np.array(names)][pred]
    order = np.random.default_rng(0).permutation(len(true))
    kinds = len(set(true)), len(set(pred))
    same = len(set(zip(true, pred, strict=True))) == min(kinds) == max(kinds)
    for measure, least in ((clustering_accuracy, 1 / max(kinds)), (nmi, 0.0)):
        here = measure(true, pred)
        assert measure(true, renamed) == pytest.approx(here, abs=1e-12)
        assert measure(true[order], pred[order]) == pytest.approx(here, abs=1e-12)
        assert measure(pred, true) == pytest.approx(here, abs=1e-12)
        assert (here > 1 - 1e-9) == same
        assert least <= here <= 1


@given(pairs_of_labels)
@settings(deadline=None, max_examples=40)
def test_matched_clusters_agree_with_the_groups_as_often_as_the_accuracy_says(labels):
    true, pred = map(np.array, labels)
    for kind in ("int64", "uint8", "float32", "str", "object"):
        named = true.astype("str").astype(kind) if kind == "object" else true.astype(kind)
        once = match_clusters(named, pred)
        assert np.mean(once == named) == pytest.approx(clustering_accuracy(true, pred))
        # One to one: the partition stays what it was, and matching again changes nothing.
        assert clustering_accuracy(once, pred) == 1.0
        np.testing.assert_array_equal(match_clusters(once, once), once)
        np.testing.assert_array_equal(match_clusters(named, named), named)


def test_clusters_left_over_get_names_that_no_group_has():
    assert match_clusters([4, 4, 9, 9], [0, 0, 1, 2]).tolist() in ([4, 4, 9, 10], [4, 4, 10, 9])
    assert match_clusters([True] * 3, [0, 0, 1]).tolist() == [1, 1, 2]
    named = match_clusters(["unmatched 1"] * 3, [0, 0, 1])
    assert named.tolist() == ["unmatched 1", "unmatched 1", "unmatched 2"]


def _entropy(counts):
    p = np.asarray(counts, dtype=float) / np.sum(counts)
    return -sum(x * math.log(x) for x in p if x > 0)


MEANS = {
    "max": max,
    "arithmetic": lambda a, b: (a + b) / 2,
    "geometric": lambda a, b: math.sqrt(a * b),
    "min": min,
}


def test_nmi_is_the_information_over_the_stated_mean_of_entropies(rng):
    for _ in range(20):
        true, pred = rng.integers(3, size=25), rng.integers(4, size=25)
        joint, one, other = (
            _entropy(np.unique(labels, return_counts=True)[1])
            for labels in (4 * true + pred, true, pred)
        )
        found = [nmi(true, pred, normalisation=name) for name in MEANS]
        expected = [(one + other - joint) / mean(one, other) for mean in MEANS.values()]
        assert found == pytest.approx(expected, rel=1e-9)
        # The paper's normalisation is the default, and the least generous.
        assert nmi(true, pred) == found[0] == min(found)


@pytest.mark.parametrize("measure", [clustering_accuracy, match_clusters, nmi])
def test_labels_that_are_no_labels_are_refused(measure):
    for true, pred in (([0, 1], [0]), ([], []), ([[0, 1]], [[0, 1]]), (0, 0)):
        with pytest.raises(ValueError, match=r"labels_true has shape .* same length"):
            measure(true, pred)
    with pytest.raises(ValueError, match="labels_pred has NaN"):
        measure([0.0, 1.0], [0.0, math.nan])
    with pytest.raises(ValueError, match=r"normalisation='mean' must be one of max, "):
        nmi([0], [0], normalisation="mean")


def _signed_rank_p_of_all_signs(d):
    """Flip the signs of the non-zero differences in every way."""
    d = np.asarray([x for x in d if x != 0], dtype=float)
    if not len(d):
        return 1.0
    ranks = stats.rankdata(np.abs(d))
    observed, middle = ranks[d > 0].sum(), ranks.sum() / 2
    sums = np.array(list(product([0, 1], repeat=len(d)))) @ ranks
    return np.mean(np.abs(sums - middle) >= abs(observed - middle) - 1e-9)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
@settings(deadline=None, max_examples=40)
def test_the_p_value_is_that_of_all_signs_ties_and_zeros_included(d):
    found = paired_difference(np.array(d) + 3.0, np.full(len(d), 3.0))
    assert found.p_value == pytest.approx(_signed_rank_p_of_all_signs(d), abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 10, 50, 51, 80])
def test_without_ties_the_p_value_is_scipys(n, rng):
    a, b = rng.standard_normal(n) + 0.3, rng.standard_normal(n)
    found = paired_difference(a, b)
    assert found.p_value == pytest.approx(stats.wilcoxon(a, b).pvalue, rel=1e-9)
    # Turning the comparison round turns its signs.
    other = paired_difference(b, a)
    assert (found.mean, found.low, found.high) == (-other.mean, -other.high, -other.low)
    assert found.p_value == other.p_value


def test_differences_that_are_equal_but_for_rounding_are_ties():
    right = np.array([150, 161, 122, 140, 133, 171, 128, 155])
    gain = np.array([3, 3, -3, 3, 6, 3, 3, 0])
    a, b = (right + gain) / 214, right / 214
    assert len(set(a - b)) > 4  # rounding tells them apart
    assert paired_difference(a, b).p_value == pytest.approx(_signed_rank_p_of_all_signs(gain))


@pytest.mark.parametrize(("n", "confidence"), [(2, 0.95), (10, 0.5), (60, 0.999)])
def test_the_interval_is_students(n, confidence, rng):
    a, b = rng.standard_normal(n) + 0.3, rng.standard_normal(n)
    found = paired_difference(a, b, confidence=confidence)
    expected = stats.ttest_rel(a, b).confidence_interval(confidence)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.mean == pytest.approx(np.mean(a) - np.mean(b))
    assert found.n == n


def test_small_and_tied_samples(rng):
    """Many ties are counted out; no difference; one pair; the least p-value that ten can give."""
    d = rng.integers(-2, 4, size=14)
    found = paired_difference(d, np.zeros(14))
    assert found.p_value == pytest.approx(_signed_rank_p_of_all_signs(d), abs=1e-12)
    assert paired_difference([0.5] * 4, [0.5] * 4) == PairedDifference(0.0, 0.0, 0.0, 1.0, 4)
    assert paired_difference([3.0], [1.0]) == PairedDifference(2.0, -math.inf, math.inf, 1.0, 1)
    assert paired_difference(np.arange(1.0, 11.0), np.zeros(10)).p_value == 2 / 2**10


def test_pairs_that_are_no_pairs_are_refused():
    for a, b in (([1.0], [1.0, 2.0]), ([], []), ([[1.0]], [[1.0]])):
        with pytest.raises(ValueError, match=r"a has shape .* same length"):
            paired_difference(a, b)
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="1 of 2 pairs are not finite"):
            paired_difference([1.0, bad], [1.0, 2.0])
    for confidence in (0, 1, 95, math.nan):
        with pytest.raises(ValueError, match="confidence="):
            paired_difference([1.0], [2.0], confidence=confidence)


def _holm_by_closure(p):
    """Reject i when Bonferroni rejects every set of hypotheses that contains it."""
    p = np.asarray(p)
    sets = [s for k in range(1, len(p) + 1) for s in combinations(range(len(p)), k)]
    return [
        max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in range(len(p))
    ]


probabilities = st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.02, 0.05]), max_size=6)


@given(probabilities)
@settings(deadline=None, max_examples=40)
def test_holm_is_the_closure_of_bonferroni(p):
    adjusted = holm(p)
    np.testing.assert_allclose(adjusted, _holm_by_closure(p), rtol=1e-12)
    assert (adjusted >= p).all()
    assert (adjusted <= 1).all()
    if p:
        assert adjusted[np.argmin(p)] == min(1.0, len(p) * min(p))
        assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


@pytest.mark.parametrize("p", [[0.1, math.nan], [-0.1], [1.1], [[0.1]], 0.1], ids=str)
def test_numbers_that_are_no_probabilities_are_refused(p):
    with pytest.raises(ValueError, match="must be a list of numbers from 0 to 1"):
        holm(p)
