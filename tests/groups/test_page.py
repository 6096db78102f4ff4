"""The page is complete and self-contained, escapes all texts and stays small."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("jinja2")

from sphericalpca.groups import page as module
from sphericalpca.groups.page import groups_page
from sphericalpca.pages import document


def replace(data, **changes):
    return SimpleNamespace(**vars(data) | changes)


class Reader(HTMLParser):
    """Tags left open, what is loaded, attributes that run, the text, and data elements."""

    VOID = frozenset({"meta", "link", "br", "img", "input"})

    def __init__(self):
        super().__init__()
        self.open, self.loaded, self.words, self.tags, self.handlers = [], [], [], [], []
        self.data, self.element, self.names = {}, None, []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        attributes = dict(attrs)
        self.loaded += [attributes[name] for name in ("src", "href") if name in attributes]
        self.handlers += [name for name in attributes if name.startswith("on")]
        self.names += [attributes["id"]] if "id" in attributes else []
        self.element = attributes.get("id") if tag == "script" else None

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.element = None

    def handle_data(self, data):
        if self.element:
            self.data[self.element] = data
        elif self.open[-1:] not in (["script"], ["style"]):
            self.words.append(data)

    @property
    def text(self):
        return "".join(self.words)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


def unpacked(reader, name):
    return zlib.decompress(base64.b64decode(reader.data[f"data-{name}"]))


def lines(reader, name):
    return unpacked(reader, name).decode().split("\n")


def columns(reader):
    """The eight columns of 16-bit integers: x, y, z, u, v, cosine, margin, group."""
    content = unpacked(reader, "points")
    count = json.loads(reader.data["data-facts"])["count"]
    assert len(content) == 16 * count
    signed = np.frombuffer(content[: 14 * count], dtype="<i2").reshape(7, count)
    return signed, np.frombuffer(content[14 * count :], dtype="<u2")


def test_points_and_texts_come_out_as_they_went_in(made):
    """Up to half a step of the grid; the plane up to shift and scale."""
    data = made(300)
    reader = read(groups_page(data))
    numbers, group = columns(reader)
    sphere, plane, measures = numbers[:3].T, numbers[3:5].T, numbers[5:].T
    np.testing.assert_allclose(sphere / module.SCALE, data.sphere, atol=1e-4)
    given = np.column_stack([data.cosine, data.margin])
    np.testing.assert_allclose(measures / module.SCALE, given, atol=1e-4)
    np.testing.assert_array_equal(group[:-1], data.group[:-1])
    assert group[-1] == module.NO_GROUP
    distances = [np.linalg.norm(p[1:] - p[:-1], axis=1) for p in (plane * 1.0, data.plane)]
    ratios = distances[0] / distances[1]
    np.testing.assert_allclose(ratios, np.median(ratios), rtol=0.05)
    assert lines(reader, "excerpts")[3:] == data.excerpts[3:]
    assert lines(reader, "ids")[3:] == data.ids[3:]


def test_labels_need_not_be_places(made):
    """Labels after a merger, in any order."""
    data = made(40, 2)
    swapped = [g | {"label": label} for g, label in zip(data.groups, (7, 3), strict=True)]
    labels = np.where(data.group < 0, -1, np.array([7, 3])[data.group])
    reader = read(groups_page(replace(data, groups=swapped, group=labels)))
    np.testing.assert_array_equal(columns(reader)[1][:-1], data.group[:-1])
    assert json.loads(reader.data["data-facts"])["labels"] == [7, 3]


def test_the_page_is_whole_and_loads_nothing(made):
    """The same numbers give the same bytes; only scripts of ours may run."""
    page = groups_page(made())
    assert groups_page(made()) == page
    reader = read(page)
    assert page.startswith("<!doctype html>")
    assert all(value.startswith(("#", "data:")) for value in reader.loaded)
    assert not re.findall(r"url\((?!#)", page)
    assert re.search(r"default-src 'none'; script-src 'sha256-[^']+' 'sha256-[^']+';", page)
    assert len(reader.names) == len(set(reader.names))
    assert reader.tags.count("article") == 4


def test_no_text_is_believed(made, evil):
    """Titles, words, settings, ids and excerpts: what looks like markup is shown, not run."""
    page = groups_page(made())
    reader = read(page)
    assert "img" not in reader.tags
    assert not reader.handlers
    assert reader.tags.count("script") == 2 + 4
    assert reader.text.count(evil) >= 4
    assert lines(reader, "excerpts")[0] == lines(reader, "ids")[2] == evil
    assert "</script><img" not in page


def test_odd_characters_leave_a_page_of_sound_ones(made):
    """NUL, halves of surrogate pairs, controls and line separators; right-to-left marks stay."""
    page = groups_page(made())
    assert page.encode().decode() == page
    assert not document.UNSOUND.search(page)
    odd = lines(read(page), "excerpts")[1]
    assert odd == "line paragraph nul\ufffd half\ufffd right\u202eleft \ufffd[31m \ufffd end"
    assert odd in read(page).text


def test_long_texts_are_cut(made):
    """At 300 characters, with a sign; ids and words earlier."""
    data = made(40)
    long = ["x" * 1000] * 40
    group = data.groups[1] | {"words": [("y" * 1000, 1.0)]}
    data = replace(data, excerpts=long, ids=long, groups=[*data.groups[:1], group])
    reader = read(groups_page(data))
    assert {len(text) for text in lines(reader, "excerpts")} == {module.EXCERPT}
    assert lines(reader, "excerpts")[0].endswith("x…")
    assert {len(text) for text in lines(reader, "ids")} == {module.ID}
    assert max(map(len, re.findall("y+", reader.text))) < module.WORD


def test_a_page_that_would_be_too_large_is_a_sample_and_says_so(made, monkeypatch):
    """The same sample every time; its parts are consistent."""
    rng = np.random.default_rng(0)
    noise = ["".join(map(chr, rng.integers(97, 123, 250))) for _ in range(2000)]
    data = made(2000, excerpts=noise)
    whole = groups_page(data)
    assert "a sample of" not in whole
    monkeypatch.setattr(module, "PAGE_BYTES", 300_000)
    page = groups_page(data)
    assert groups_page(data) == page
    assert 200_000 < len(page.encode()) <= 300_000
    reader = read(page)
    ids = lines(reader, "ids")
    assert f"The map shows a sample of {len(ids):,} texts." in reader.text
    assert "2,000 texts" in reader.text
    rows = [data.ids.index(name) for name in ids]
    assert rows == sorted(set(rows))
    assert lines(reader, "excerpts") == [noise[row] for row in rows]
    numbers, _ = columns(reader)
    np.testing.assert_allclose(numbers[5] / module.SCALE, data.cosine[rows], atol=1e-4)


def test_a_sample_that_was_given_is_named(made):
    given = read(groups_page(made(40, n_texts=10**6)))
    assert "1,000,000 texts" in given.text
    assert "a sample of 40 texts" in given.text


def test_what_was_measured_is_said(made):
    data = made()
    text = read(groups_page(data)).text.replace("\N{NO-BREAK SPACE}", " ")
    uncertain = int((data.margin[data.group >= 0] < data.uncertain).sum())
    assert f"{uncertain} texts with a margin below .050" in text
    assert (
        "keeps 2.04% more of the texts\N{RIGHT SINGLE QUOTATION MARK} directions than a plain SVD"
        in text
    )
    assert "Malformed lines" in text
    assert "3, for example in lines 7, 19" in text
    assert "1 text, in group \N{MINUS SIGN}1" in text
    near = read(groups_page(made(svd_ratio=0.99999))).text
    assert "A plain SVD (as in LSA) would keep as much" in near
    assert "SVD ratio" not in read(groups_page(made(svd_ratio=float("nan")))).text


def test_what_is_not_there_has_no_section(made):
    """Vectors without words, one group, no curve, no problems; no points at all."""
    data = made(1, 1, curve=None, problems={}, unassigned=())
    data = replace(
        data,
        groups=[
            {
                "label": 0,
                "words": (),
                "size": 1,
                "mean_cosine": float("nan"),
                "typical": (),
                "borderline": (),
            }
        ],
    )
    reader = read(groups_page(data))
    assert not {"relatives", "how-many"} & set(reader.names)
    assert "nan" not in reader.text
    assert "Every text was read and assigned" in reader.text
    assert "angle between their vectors" in reader.text
    nothing = {"excerpts": [], "ids": [], "group": np.zeros(0, int)}
    arrays = {"sphere": (0, 3), "plane": (0, 2), "cosine": 0, "margin": 0}
    nothing |= {name: np.zeros(shape) for name, shape in arrays.items()}
    assert json.loads(read(groups_page(made(**nothing))).data["data-facts"])["count"] == 0


def test_numbers_that_are_none_do_not_break_the_data(made):
    """JSON has no NaN; a coordinate that is none is 0."""
    nan = float("nan")
    data = made(curve=[(2, 0.5, nan, nan)])
    data.plane[0], data.margin[3] = nan, nan
    reader = read(groups_page(data))
    facts = json.loads(reader.data["data-facts"], parse_constant=pytest.fail)
    assert np.all(columns(reader)[0][3:5].std(axis=1) > 1000)
    assert facts["curve"] == [[2, 0.5, None, None]]
