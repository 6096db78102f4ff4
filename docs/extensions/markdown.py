"""Markdown pages, and markdown tables that were drawn from rows, as parts of the site.

Reads what our own pages use: headings, paragraphs, lists, tables, code, emphasis, links and
pictures.  Anything else is an error, so that nothing is lost in silence.  (MyST would copy
every file of the repository that a page links to, and not find the pictures of a file that is
included from another folder.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes, parsers
from docutils.parsers.rst import directives
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

__all__ = ["MarkdownParser", "setup"]

# Elements whose children are converted and put inside.
WRAPPERS: dict[str, type[nodes.Element]] = {
    "paragraph": nodes.paragraph,
    "bullet_list": nodes.bullet_list,
    "ordered_list": nodes.enumerated_list,
    "list_item": nodes.list_item,
    "blockquote": nodes.block_quote,
    "em": nodes.emphasis,
    "strong": nodes.strong,
}


# Cells whose lines have at most this many letters are not broken further.
SHORT = 27

# Tables of this many columns are set in a smaller type.
WIDE = 10

# Files of the repository that have a page on the site.
PAGES = {"../benchmarks/results/summary.md": "/results/benchmarks"}


def _tree(text: str) -> SyntaxTreeNode:
    return SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text))


def _converted(element: SyntaxTreeNode) -> Iterator[nodes.Node]:
    """Docutils' nodes for anything but a heading."""
    kind = element.type
    if kind in WRAPPERS:
        wrapper = WRAPPERS[kind]()
        wrapper += _children(element)
        yield wrapper
    elif kind == "inline":
        yield from _children(element)
    elif kind in SINGLE:
        yield SINGLE[kind](element)
    elif kind == "html_inline" and element.content.startswith("<br"):
        yield nodes.raw("", "<br>", format="html")
    elif kind not in {"html_block", "html_inline"}:  # comments, which nobody should see
        raise ValueError(f"The site's markdown does not know {kind!r}: use another form.")


def _children(element: SyntaxTreeNode) -> list[nodes.Node]:
    return [node for child in element.children for node in _converted(child)]


def _link(element: SyntaxTreeNode) -> nodes.Node:
    """A link to the web or to a page; other files are put on the site, to be downloaded."""
    target = str(element.attrs["href"])
    if "://" in target or target.startswith("#"):
        return nodes.reference("", "", *_children(element), refuri=target)
    page = target.partition("#")[0]
    inside = nodes.inline("", "", *_children(element))
    if page.endswith(".csv") or (page.startswith("../") and page not in PAGES):
        return addnodes.download_reference("", "", inside, reftarget=page)
    name = PAGES.get(page, page.removesuffix(".md"))
    return addnodes.pending_xref(
        "", inside, refdomain="std", reftype="doc", reftarget=name, refexplicit=True, refwarn=True
    )


def _table(element: SyntaxTreeNode) -> nodes.Node:
    head, *body = element.children
    width = len(head.children[0].children)
    group = nodes.tgroup("", cols=width)
    group += [nodes.colspec(colwidth=1) for _ in range(width)]
    group += nodes.thead("", *map(_row, head.children))
    group += nodes.tbody("", *(_row(row) for part in body for row in part.children))
    return nodes.table("", group, classes=["wide"] if width >= WIDE else [])


def _row(element: SyntaxTreeNode) -> nodes.row:
    return nodes.row("", *map(_cell, element.children))


def _cell(element: SyntaxTreeNode) -> nodes.entry:
    text = nodes.paragraph("", "", *_children(element))
    is_short = max(map(len, text.astext().split("<br>"))) <= SHORT
    for name in [] if is_short else list(text.findall(nodes.literal)):
        name.replace_self(_breakable(name.astext()))
    return nodes.entry("", text, classes=["short"] if is_short else [])


def _breakable(name: str) -> nodes.literal:
    """A long name that may be broken between its parts."""
    parts = re.findall(r".+?(?:[/.]|::|_+|$)", name)
    broken: list[nodes.Node] = [nodes.Text(parts[0])]
    for part in parts[1:]:
        broken += [nodes.raw("", "<wbr>", format="html"), nodes.Text(part)]
    return nodes.literal("", "", *broken)


def _code(element: SyntaxTreeNode) -> nodes.Node:
    language = element.info.split()[0] if element.info else "text"
    return nodes.literal_block(element.content, element.content, language=language)


def _picture(element: SyntaxTreeNode) -> nodes.Node:
    return nodes.image(uri=str(element.attrs["src"]), alt=element.content)


SINGLE: dict[str, Any] = {
    "text": lambda element: nodes.Text(element.content),
    "softbreak": lambda _: nodes.Text("\n"),
    "hardbreak": lambda _: nodes.raw("", "<br>", format="html"),
    "code_inline": lambda element: nodes.literal("", element.content),
    "fence": _code,
    "code_block": _code,
    "hr": lambda _: nodes.transition(),
    "link": _link,
    "image": _picture,
    "table": _table,
}


class MarkdownParser(parsers.Parser):
    """Reads a markdown page."""

    supported = ("md", "markdown")

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Fill the document, with a section for every heading."""
        self.setup_parse(inputstring, document)
        _fill(document, _tree(inputstring).children, document)
        self.finish_parse()


def _fill(top: nodes.Element, elements: Sequence[SyntaxTreeNode], document: nodes.document) -> None:
    """Put elements into `top`, with a section for every heading."""
    open_sections: list[tuple[int, nodes.Element]] = [(0, top)]
    for element in elements:
        if element.type != "heading":
            open_sections[-1][1].extend(_converted(element))
            continue
        level = int(element.tag[1])
        while open_sections[-1][0] >= level:
            open_sections.pop()
        section = _section(element, document)
        open_sections[-1][1].append(section)
        open_sections.append((level, section))


def _section(heading: SyntaxTreeNode, document: nodes.document) -> nodes.section:
    title = nodes.title("", "", *_children(heading))
    section = nodes.section("", title, names=[nodes.fully_normalize_name(title.astext())])
    document.note_implicit_target(section, section)
    return section


class FromRows(SphinxDirective):
    """A markdown file that was drawn from the committed rows.

    Its headings become rubrics; with the option ``sections`` they become sections, and the
    first heading, the title of the file, is left out.
    """

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"sections": directives.flag}

    def run(self) -> list[nodes.Node]:
        """The file's content, with tables that scroll where they are wide."""
        path = Path(self.env.srcdir) / "drawn" / self.arguments[0]
        self.env.note_dependency(str(path))
        elements = _tree(path.read_text(encoding="utf-8")).children
        box = nodes.container(classes=["from-rows"])
        if "sections" in self.options:
            _fill(box, elements[1:], self.state.document)
        else:
            box += [node for element in elements for node in _without_sections(element)]
        for picture in box.findall(nodes.image):
            picture["uri"] = f"/drawn/{Path(self.arguments[0]).parent / picture['uri']}"
        for table in list(box.findall(nodes.table)):
            table["classes"].append("from-rows")
        return list(box.children) if "sections" in self.options else [box]


def _without_sections(element: SyntaxTreeNode) -> list[nodes.Node]:
    if element.type == "heading":
        return [nodes.rubric("", "", *_children(element))]
    return list(_converted(element))


def setup(app: Sphinx) -> dict[str, Any]:
    """Read ``.md`` pages, and know the directive of this module."""
    app.add_source_suffix(".md", "markdown")
    app.add_source_parser(MarkdownParser)
    app.add_directive("from-rows", FromRows)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
