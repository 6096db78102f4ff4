"""Pictures: the same bytes each time, nothing lost on the way to the page."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from paper.report.compare import compare, lines_of
from paper.report.figures.clustering import (
    against_dimension,
    methods_by_line,
)
from paper.report.figures.files import png_file, svg_file
from sphericalpca.pages.pictures import THEME, Panel, Picture, flat_axes
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
    assert svg_file(one) == svg_file(two)
    assert png_file(one) == png_file(two)
    assert png_file(one).startswith(b"\x89PNG")
    assert one.inline() == two.inline()
    for svg in (svg_file(one).decode(), one.inline()[0]):
        text = "".join(ET.fromstring(with_namespace(svg)).itertext())
        assert "0.123456 & <0.5>" in text
        assert "0.375" in text


def with_namespace(svg):
    """Inside HTML an SVG needs no namespaces; an XML parser wants them."""
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return svg if "xmlns=" in svg else svg.replace("<svg", f"<svg {spaces}", 1)


def test_inline_pictures_follow_the_theme_and_have_words(pictures, folder):
    assert list(pictures) == [
        *("geometry", "toy", "convergence-toy", "convergence-digits", "newsgroups"),
        *("newsgroups-labels", "uci", "embeddings", "rank", "lsa", "seconds"),
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


def drawn(panel):
    figure = new_figure(panel.size, layout=None)
    panel.draw(figure)
    return figure.axes[0]


def test_two_repetitions_have_no_bars_and_no_bands(rows):
    for n, known in ((2, False), (3, True)):
        lines = compare(rows[rows["repetition"] < n])
        dots = methods_by_line(lines_of(lines, "newsgroups", variant="main"), name="x", caption="")
        bars = [line for line in drawn(dots.panels[0]).lines if len(line.get_xdata()) == 2]
        assert {bool(np.isfinite(bar.get_xdata()).all()) for bar in bars} == {known}
        curves = against_dimension(lines_of(lines, "rank"), caption="")
        bands = [band.get_paths() for band in drawn(curves.panels[0]).collections]
        assert {any(len(path.vertices) for path in paths) for paths in bands} == {known}
