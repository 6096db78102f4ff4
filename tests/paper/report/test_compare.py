"""Lines of a table agree with what is computed from the rows by hand."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from paper.report.compare import Cell, compare, lines_of, methods_of
from paper.report.enough import MARGIN, is_equivalent
from sphericalpca.metrics import PairedDifference, holm, paired_difference

WHERE = ("newsgroups", "20newsgroups", "10", "main")


def values(line, method, measure="accuracy"):
    part = line.rows[line.rows["method"] == method].sort_values("repetition")
    return part[measure].to_numpy()


def test_every_row_is_in_one_line(lines, rows):
    """And the dimension tells lines apart only where it varies."""
    assert sum(len(line.rows) for line in lines) == len(rows)
    assert len({line.key for line in lines}) == len(lines)
    assert {line.key.r for line in lines_of(lines, "rank")} == {2, 5, 10, 20, 50}
    assert {line.key.r for line in lines_of(lines, "lsa", groups="4")} == {4, 10, 20, 50, 100}
    assert {line.key.r for line in lines_of(lines, "newsgroups")} == {0}
    main = lines_of(lines, "newsgroups", variant="main")
    assert len(main) == 5
    assert main[0].fact("svd_ratio") == pytest.approx(0.9956)
    part = main[0].rows[main[0].rows["method"] == "k-svd"]
    assert main[0].seconds["k-svd"] == pytest.approx(part["seconds"].mean())
    methods = methods_of(lines_of(lines, "uci"))
    assert methods[:6] == ["kmeans", "mua", "pca", "r1-pca", "k-svd", "spherical-pca"]
    assert len(methods) == 15


def test_cells_are_means_and_paired_differences(lines):
    line = lines_of(lines, "newsgroups", variant="main", groups="15")[0]
    for measure in ("accuracy", "nmi_max", "nmi_arithmetic", "ari"):
        ours = values(line, "spherical-pca", measure)
        gains = {}
        for method, cell in line.cells[measure].items():
            theirs = values(line, method, measure)
            assert cell.mean == pytest.approx(theirs.mean())
            assert cell.sd == pytest.approx(theirs.std(ddof=1))
            if method != "spherical-pca":
                gains[method] = paired_difference(ours, theirs)
                assert cell.gain == gains[method]
        corrected = holm([gain.p_value for gain in gains.values()])
        for method, p in zip(gains, corrected, strict=True):
            assert line.cells[measure][method].p == p
        assert line.cells[measure]["spherical-pca"].gain is None


def test_best_is_the_highest_mean_and_may_be_shared(exact_rows):
    rows = exact_rows(WHERE, {"kmeans": [0.5, 0.6], "pca": [0.60001, 0.5], "mua": [0.4, 0.5]})
    best = {m for m, cell in compare(rows)[0].cells["accuracy"].items() if cell.best}
    assert best == {"kmeans", "pca"}


@pytest.mark.parametrize(
    ("low", "high", "p", "outcome"),
    [
        (0.01, 0.03, 0.01, "ahead"),
        (-0.03, -0.01, 0.01, "behind"),
        (0.01, 0.03, 0.2, "open"),
        (-0.01, 0.03, 0.01, "open"),
        (-0.01, 0.012, 0.01, "level"),
        (0.0, 0.0, 1.0, "level"),
        (0.01, 0.03, np.nan, "ahead"),
        (-0.01, 0.03, np.nan, "open"),
        (0.004, 0.005, 0.001, "level"),
        (-0.005, -0.004, 0.001, "level"),
        (0.0049, 0.0053, 0.001, "ahead"),
    ],
)
def test_outcome_needs_interval_p_and_half_a_point_and_level_a_test(low, high, p, outcome):
    gain = PairedDifference((low + high) / 2, low, high, p, 10)
    assert Cell(0.5, 0.1, 10, gain, p).outcome == outcome


@pytest.mark.parametrize("n", [3, 10, 40])
@pytest.mark.parametrize("mean", [0.0, 0.004, 0.012, 0.019, 0.03])
def test_equivalence_is_two_one_sided_t_tests(rng, n, mean):
    """The tests of scipy, each against its end of the margin."""
    noise = rng.normal(0, 0.02, n)
    difference = noise - noise.mean() + mean
    for scale in (0.1, 0.5, 1.0):
        d = mean + (difference - mean) * scale
        below = stats.ttest_1samp(d, MARGIN, alternative="less").pvalue
        above = stats.ttest_1samp(d, -MARGIN, alternative="greater").pvalue
        found = is_equivalent(paired_difference(d, np.zeros(n)))
        assert found == (max(below, above) < 0.05)
    assert not is_equivalent(paired_difference([0.0], [0.0]))


def test_more_replicates_do_not_make_an_interval_narrower(exact_rows):
    noise = np.random.default_rng(0).normal(0, 0.02, 400)
    ours, theirs = 0.53 + noise, np.full(400, 0.5)
    widths = {}
    for variant, n in product(("seeds", "bootstrap"), (20, 400)):
        values = {"spherical-pca": ours[:n], "svd-unit": theirs[:n]}
        line = compare(exact_rows(("lsa", "20newsgroups", "4", variant), values, r=4))[0]
        cells = line.cells["nmi_arithmetic"]
        gain = cells["svd-unit"].gain
        widths[variant, n] = gain.high - gain.low
        assert np.ptp(cells["spherical-pca"].interval) == pytest.approx(widths[variant, n])
        assert np.isnan(cells["svd-unit"].p) == (variant == "bootstrap")
        assert cells["svd-unit"].outcome == ("open" if variant == "bootstrap" else "ahead")
    assert widths["bootstrap", 400] == pytest.approx(widths["bootstrap", 20], rel=0.4)
    assert widths["seeds", 400] < 0.4 * widths["seeds", 20]


@pytest.mark.parametrize(("variant", "enough"), [("seeds", 6), ("bootstrap", 3)])
def test_few_repetitions_are_untested_and_not_level(exact_rows, variant, enough):
    where = ("lsa", "20newsgroups", "4", variant)
    for n in range(1, 8):
        wobble = 0.001 * np.arange(n)
        values = {"spherical-pca": 0.7 + wobble, "svd-unit": np.full(n, 0.5)}
        cells = compare(exact_rows(where, values, r=4))[0].cells["accuracy"]
        cell = cells["svd-unit"]
        assert cell.outcome == ("ahead" if n >= enough else "untested")
        assert np.isfinite(cell.p) == (variant == "seeds" and n >= enough)
        ends = (cell.gain.low, cell.gain.high, *cells["spherical-pca"].interval)
        assert np.isfinite(ends).all() == (n >= 3)
        assert np.isnan(ends).all() == (n < 3)


def test_missing_repetitions_are_left_out_of_the_pairs(exact_rows):
    rows = exact_rows(WHERE, {"spherical-pca": [0.7, 0.8, 0.9], "kmeans": [0.6, 0.6, 0.6]})
    part = rows[~((rows["method"] == "kmeans") & (rows["repetition"] == 1))]
    cell = compare(part)[0].cells["accuracy"]["kmeans"]
    assert (cell.n, cell.gain.n) == (2, 2)
    assert cell.gain.mean == pytest.approx(0.2)
    cell = compare(rows[rows["repetition"] == 0])[0].cells["accuracy"]["kmeans"]
    assert cell.outcome == "untested"
    assert np.isnan([cell.sd, *cell.interval]).all()


def test_what_does_not_apply_is_borrowed_from_min_max(lines, rows):
    unit, minmax = (
        lines_of(lines, "uci", dataset="isolet", variant=variant)[0]
        for variant in ("unit", "minmax")
    )
    borrowed, lent = (line.cells["nmi_max"]["mua"] for line in (unit, minmax))
    assert (borrowed.mean, borrowed.borrowed) == (lent.mean, True)
    assert (borrowed.outcome, borrowed.best) == ("untested", False)
    assert not lent.borrowed
    assert not any(cell.borrowed for m, cell in unit.cells["nmi_max"].items() if m != "mua")
    alone = rows[(rows["dataset"] == "isolet") & (rows["variant"] == "unit")]
    assert "mua" not in compare(alone)[0].cells["accuracy"]
