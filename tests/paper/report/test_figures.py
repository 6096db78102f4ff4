"""Pictures: the same bytes each time, nothing lost on the way to the page."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from paper.report.compare import compare, lines_of
from paper.report.figures.axes import log_scale
from paper.report.figures.clustering import (
    against_dimension,
    lsa_curves,
    methods_by_line,
)
from paper.report.figures.convergence import _gap, _thinned
from paper.report.figures.convergence import convergence as draw_convergence
from paper.report.figures.toy import toy
from sphericalpca.pages.pictures import THEME, Panel, Picture, Sample, flat_axes
from sphericalpca.plotting.style import INK, PALETTE, new_figure

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def pictures(content):
    return content.pictures


def simple():
    def draw(figure):
        ax = flat_axes(figure, text="a title")
        ax.plot([0, 1], [0.123456, 1], color=PALETTE[0])
        ax.text(0.5, 0.5, "0.123456 & <0.5>", color=INK)
        figure.add_axes((0, 0, 0.1, 0.1)).set_yticks([0.375])

    return Picture("simple", "Caption.", (Panel((3, 2), draw, "One line's <rise>."),) * 2)


def test_same_bytes_each_time_and_text_is_kept_as_it_is():
    one, two = simple(), simple()
    assert one.svg() == two.svg()
    assert one.png() == two.png()
    assert one.png().startswith(b"\x89PNG")
    assert one.inline() == two.inline()
    for svg in (one.svg().decode(), one.inline()[0]):
        text = "".join(ET.fromstring(with_namespace(svg)).itertext())
        assert "0.123456 & <0.5>" in text
        assert "0.375" in text


def with_namespace(svg):
    """Inside HTML an SVG needs no namespaces; an XML parser wants them."""
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return svg if "xmlns=" in svg else svg.replace("<svg", f"<svg {spaces}", 1)


def test_inline_pictures_follow_the_theme_and_have_words(pictures, folder):
    assert list(pictures) == [
        *("geometry", "toy", "convergence-toy", "convergence-digits", "newsgroups", "uci"),
        *("rank", "lsa", "seconds"),
    ]
    page = (folder / "report.html").read_text(encoding="utf-8")
    ids, linked, labels = [], [], []
    for svg in re.findall(r"<svg\b[^>]*role=\"img\".*?</svg>", page, re.DOTALL):
        assert re.findall(r"#[0-9a-fA-F]{6}\b", svg) == []
        assert not re.search("font-family|<style", svg)
        used = set(re.findall(r"var\(--(\w+)\)", svg))
        assert {"ink"} <= used <= set(THEME.values())
        ids += re.findall(r"\sid=\"([^\"]+)\"", svg)
        linked += re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg)
        root = ET.fromstring(with_namespace(svg))
        labels.append(root.get("aria-label"))
        assert root.find(f"{SVG}desc").text == labels[-1]
        assert "viewBox" in root.attrib
        assert root.get("width") is None
    assert len(ids) == len(set(ids)), "ids are unique over all pictures"
    assert set(linked) == set(ids)
    assert sorted(labels) == sorted(p.label for one in pictures.values() for p in one.panels)
    assert all(picture.caption.endswith(".") for picture in pictures.values())


def test_file_pictures_stand_alone(pictures, folder):
    for name in pictures:
        text = (folder / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        assert "var(--" not in text
        ET.fromstring(text)
        assert (folder / "figures" / f"{name}.png").is_file()


def test_wrong_points_are_ringed_and_their_share_told(toy_points):
    panel = toy(toy_points).panels[1]
    *scatters, rings = drawn(panel).collections
    assert len(rings.get_offsets()) == int((toy_points["kmeans"] != toy_points["group"]).sum())
    assert to_hex(rings.get_edgecolors()[0]) == INK
    assert len(rings.get_facecolors()) == 0
    shown = [len(scatter.get_offsets()) for scatter in scatters[:2]]
    assert shown == [int((toy_points["kmeans"] == number).sum()) for number in (0, 1)]
    share = 100 * (toy_points["kmeans"] == toy_points["group"]).mean()
    assert f"{share:.1f} %" in panel.label


def test_gaps_thinning_and_samples_of_a_legend():
    loss = np.array([30.0, 21.0, 20.0 + 1e-10, 20.0])
    np.testing.assert_allclose(_gap(loss), [10.0, 1.0, np.nan, np.nan])  # rounding is left out
    for length in (0, 1, 250, 251, 3000):
        kept = _thinned(length)
        assert len(kept) <= 250
        assert (np.diff(kept) > 0).all()
        assert not length or (kept[0], kept[-1]) == (0, length - 1)
    assert Sample("a", PALETTE[1], "--").variable == "c1"
    assert Sample("a", PALETTE[1], "--").dashes
    assert not Sample("a", PALETTE[1]).dashes


def test_powers_of_ten_are_plain_text():
    ax = flat_axes(new_figure((3, 2), layout=None))
    ax.set(xlim=(1e-6, 1e6), ylim=(0.001, 1000))
    log_scale(ax.xaxis)
    log_scale(ax.yaxis)
    values = (1e-6, 0.01, 1.0, 1e5, 5)
    far, near = (axis.get_major_formatter() for axis in (ax.xaxis, ax.yaxis))
    assert [far(value) for value in values] == ["10⁻⁶", "10⁻²", "1", "10⁵", "5"]
    assert [near(value) for value in (0.001, 0.1, 1, 1000)] == ["0.001", "0.1", "1", "1,000"]


def test_seconds_of_the_recipe_are_drawn_against_r(pictures, lines):
    panels = pictures["seconds"].panels
    assert [panel.label.rpartition(", ")[2] for panel in panels] == [
        *("texts.", "tables.", "20 groups.", "4 groups.")
    ]
    found = {line.get_label(): line.get_xydata() for line in drawn(panels[3]).lines}
    part = lines_of(lines, "lsa", groups="4", variant="seeds")
    expected = [(line.key.r, line.seconds["spherical-pca"]) for line in part]
    np.testing.assert_allclose(found["Spherical PCA"], expected)
    assert set(found) == {"LSA", "Spherical PCA"}


def test_missing_method_leaves_a_gap(exact_rows):
    rows = [
        exact_rows(("uci", data, "6", "unit"), {method: [0.5, 0.6] for method in methods})
        for data, methods in {"glass": ("kmeans", "mua"), "isolet": ("kmeans",)}.items()
    ]
    picture = methods_by_line(compare(pd.concat(rows)), name="x", caption="")
    labels = drawn(picture.panels[1]).get_yticklabels()
    assert [label.get_text() for label in labels] == ["K-means", "MUA"]


def drawn(panel):
    figure = new_figure(panel.size, layout=None)
    panel.draw(figure)
    return figure.axes[0]


def test_shares_stay_on_their_axis_with_few_labels(rows):
    """Two values would give intervals far beyond 0 and 1; wide spreads would, too."""
    measures = ("accuracy", "nmi_max", "nmi_arithmetic")
    odd = rows["repetition"] % 2 == 1
    wild = rows.assign(**{name: rows[name].where(~odd, 1.0 - rows[name]) for name in measures})
    for part in (wild[wild["repetition"] < 2], wild[wild["repetition"] < 3]):
        lines = compare(part)
        for picture, name in (
            (methods_by_line(lines_of(lines, "uci", variant="unit"), name="x", caption=""), "x"),
            (against_dimension(lines_of(lines, "rank"), caption=""), "y"),
            (lsa_curves(lines_of(lines, "lsa"), caption=""), "y"),
        ):
            ax = drawn(picture.panels[-1])
            low, high = getattr(ax, f"get_{name}lim")()
            ticks = getattr(ax, f"get_{name}ticks")()
            assert 0 <= low < high <= 1
            assert 2 <= sum(low <= tick <= high for tick in ticks) <= 6


def test_two_repetitions_have_no_bars_and_no_bands(rows):
    for n, known in ((2, False), (3, True)):
        lines = compare(rows[rows["repetition"] < n])
        dots = methods_by_line(lines_of(lines, "newsgroups", variant="main"), name="x", caption="")
        bars = [line for line in drawn(dots.panels[0]).lines if len(line.get_xdata()) == 2]
        assert {bool(np.isfinite(bar.get_xdata()).all()) for bar in bars} == {known}
        curves = against_dimension(lines_of(lines, "rank"), caption="")
        bands = [band.get_paths() for band in drawn(curves.panels[0]).collections]
        assert {any(len(path.vertices) for path in paths) for paths in bands} == {known}


def test_borrowed_cells_are_hollow_and_explained(pictures, lines):
    picture = pictures["uci"]
    hollow = [sample.label for sample in picture.legend if sample.hollow]
    assert hollow == ["the paper's number", "min-max data"]
    assert "Hollow: MUA on min-max data" in picture.caption
    names = [panel.label for panel in picture.panels]
    for panel, name in zip(picture.panels, names, strict=True):
        circles = [line for line in drawn(panel).lines if line.get_marker() == "o"]
        faces = [line.get_markerfacecolor() for line in circles]
        assert faces.count("none") == ("isolet" in name)
        assert ("(min-max data)" in name) == ("isolet" in name)
    assert "min-max" not in pictures["newsgroups"].caption
    assert len(pictures["newsgroups"].legend) == 3


def test_convergence_says_where_solvers_start(convergence):
    starts = dict.fromkeys(convergence["solver"].unique(), "random U, V uniform")
    starts["default"] = "SVD"
    lower = convergence["objective"].where(convergence["solver"] != "default", 19.0)
    caption = draw_convergence(convergence.assign(objective=lower), "toy", starts).caption
    assert "exact alternation start from a random U and random numbers as V; the default" in caption
    assert "the default solver starts from the SVD, which is why it begins lower." in caption
    higher = convergence["objective"].where(convergence["solver"] != "default", 99.0)
    caption = draw_convergence(convergence.assign(objective=higher), "toy", starts).caption
    assert "begins lower" not in caption
    assert "start" not in draw_convergence(convergence, "toy").caption


def test_a_gap_that_was_measured_is_drawn_as_it_is(convergence):
    lines = drawn(draw_convergence(convergence.assign(gap=1e-9), "toy").panels[3]).lines
    assert len(lines) == 4
    assert all((line.get_ydata() == 1e-9).all() for line in lines)


def test_long_legends_take_several_lines():
    one = simple()
    short = Picture(one.name, one.caption, one.panels, (Sample("a", INK),) * 3, across=2)
    long = Picture(one.name, one.caption, one.panels, (Sample("a" * 40, INK),) * 3, across=2)
    heights = [picture._whole().get_figheight() for picture in (one, short, long)]
    assert heights[0] < heights[1] < heights[2]
    for picture in (short, long):
        figure = picture._whole()
        figure.draw_without_rendering()
        legend = figure.subfigs[-1].legends[0].get_window_extent()
        assert legend.x0 >= 0
        assert legend.x1 <= figure.bbox.x1
