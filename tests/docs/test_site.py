"""The site builds without a warning, holds together, and asks the network for nothing."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from shutil import copytree, ignore_patterns
from urllib.parse import unquote, urldefrag

import pytest

ROOT = Path(__file__).parents[2]
MADE_BY_THE_BUILD = ("api", "drawn", "gallery", "__pycache__")

# Attributes that make a browser load something.
LOADS = {
    *(("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("embed", "src")),
    *(("img", "srcset"), ("source", "srcset"), ("video", "src"), ("audio", "src")),
    *(("object", "data"), ("link", "href"), ("image", "href"), ("use", "href")),
}
# Links in the head that only say something.
SAYS = {"next", "prev", "search", "index", "author", "canonical"}

SECTIONS = ("start", "guide/index", "gallery/index", "extend/index", "results/index", "api/index")


class Page(HTMLParser):
    """What a page loads, links to, and can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.tags: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        known = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.anchors |= {known[name] for name in ("id", "name") if name in known}
        says = set(known.get("rel", "").split()) & SAYS
        for name, value in known.items():
            if (tag, name) in LOADS and not says:
                self.loads.append(value)
            elif name == "href":
                self.links.append(value)
            elif name == "style":
                self.loads += from_style(value)


def from_style(text):
    """What a style sheet loads."""
    return re.findall(r"url\(\s*['\"]?(?!data:)([^'\")]+)", text) + re.findall(
        r"@import\s+['\"]([^'\"]+)", text
    )


def is_outside(address):
    return re.match(r"\s*(?:[a-z]+:)?//", address) is not None


def read_pages(site):
    """All pages; a theme's templates lie in ``_static``, too."""
    found = (path for path in site.rglob("*.html") if site / "_static" not in path.parents)
    return {path: Page(path) for path in found}


def loaded_from_outside(site, pages):
    found = [(page.path.name, load) for page in pages.values() for load in page.loads]
    for path in site.rglob("*.css"):
        found += [(path.name, load) for load in from_style(path.read_text(encoding="utf-8"))]
    for path in site.rglob("*.svg"):
        text = path.read_text(encoding="utf-8")
        found += [(path.name, load) for load in re.findall(r"href=\"([^\"#][^\"]*)\"", text)]
    return [(where, load) for where, load in found if is_outside(load)]


def broken_links(site, pages):
    """Links and pictures within the site that lead nowhere."""
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            address, anchor = urldefrag(unquote(link).partition("?")[0])
            if is_outside(link) or re.match(r"(data|javascript):", link):
                continue
            target = (path.parent / address).resolve() if address else path.resolve()
            target = target / "index.html" if target.is_dir() else target
            there = pages[target].anchors if target in pages else {anchor}
            if not target.exists() or (anchor and anchor not in there):
                yield path.relative_to(site), link


@pytest.fixture
def project(tmp_path):
    """A copy of the sources of the site, beside what it draws from."""
    root = tmp_path.resolve() / "project"
    copytree(ROOT / "docs", root / "docs", ignore=ignore_patterns(*MADE_BY_THE_BUILD))
    for name in ("examples", "paper", "benchmarks", "reliability", "SECURITY.md"):
        (root / name).symlink_to(ROOT / name)
    return root


def build(project):
    """Run Sphinx as `make docs` does, without the examples, which are tested separately."""
    site = project / "site"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-D", "plot_gallery=0"]
    done = subprocess.run(
        [*command, str(project / "docs"), str(site)],
        cwd=project,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return site


@pytest.mark.slow("built site")
def test_the_site_builds_and_is_whole_and_loads_nothing_from_outside(project, monkeypatch):
    for package in ("sphinx_gallery", "pydata_sphinx_theme", "numpydoc", "pandas", "jinja2"):
        pytest.importorskip(package)
    site = build(project)
    pages = read_pages(site)
    for section in SECTIONS:
        assert site / f"{section}.html" in pages
    assert not loaded_from_outside(site, pages)
    assert not list(broken_links(site, pages))
    assert "math" in pages[site / "guide" / "model.html"].tags
    formulas = (site / "guide" / "model.html").read_text(encoding="utf-8")
    assert set(re.findall(r"<mo[^>]*>‖</mo>", formulas)) == {'<mo stretchy="false">‖</mo>'}
    assert "../api/names/sphericalpca.open_rows.html#sphericalpca.open_rows" in (
        pages[site / "guide" / "big-data.html"].links
    )
    rows = [link for link in pages[site / "scaling.html"].links if link.endswith(".csv")]
    assert len(rows) == (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8").count(".csv)")
    assert "wbr" in pages[site / "paper.html"].tags  # long names have places to break
    monkeypatch.syspath_prepend(str(project / "docs"))
    for module, names in importlib.import_module("extensions.public").public_names().items():
        for name in names:
            assert site / "api" / "names" / f"{module}.{name}.html" in pages
    for path in pages:
        assert str(project) not in path.read_text(encoding="utf-8"), path
