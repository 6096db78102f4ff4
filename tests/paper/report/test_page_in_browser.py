"""The page in a real browser: no errors, no network, readable at any width and in the dark."""

import os
import shutil

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

pytestmark = [
    pytest.mark.slow("browser"),
    pytest.mark.skipif(
        CHROMIUM is None, reason="no chromium: install it, or name one in the variable CHROMIUM"
    ),
]

# Every visible text against whatever is painted behind it; 3 is enough for large letters.
LOW_CONTRAST = """
() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map((x) => x / 255)
    .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const low = [];
  const nodes = document.querySelectorAll("p, li, a, th, td, td span, small, h1, h2, h3, "
    + "figcaption, summary, label, legend, button, dt, dd, output, svg text, q, strong");
  nodes.forEach((node) => {
    if (!node.textContent.trim() || !node.getClientRects().length) return;
    const style = getComputedStyle(node);
    const color = node.closest("svg") ? style.fill : style.color;
    const [a, b] = [light(rgb(color)), light(behind(node))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24;
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) low.push([node.tagName, node.textContent.slice(0, 40), ratio]);
  });
  return { low, seen: nodes.length };
}
"""

UNNAMED_IMAGES = """
() => [...document.querySelectorAll("svg, img, canvas")]
  .filter((node) => !node.closest("[aria-hidden=true]"))
  .filter((node) => !(node.getAttribute("aria-label") || node.getAttribute("alt")))
  .map((node) => node.outerHTML.slice(0, 80))
"""

TOO_WIDE = """
() => [...document.querySelectorAll("main *")]
  .filter((node) => !node.closest(".scroll") || node.matches(".scroll"))
  .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5)
  .filter((node) => getComputedStyle(node).position !== "absolute")
  .map((node) => node.outerHTML.slice(0, 80))
"""

PIXELS = "() => document.getElementById('toy-canvas').toDataURL()"
A_FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


class Watched:
    """The page, and everything that it complained of or asked for."""

    def __init__(self, page):
        self.page, self.complaints, self.requests = page, [], []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def pixels(self):
        self.page.evaluate(A_FRAME)
        return self.page.evaluate(PIXELS)


@pytest.fixture(scope="module")
def watched(folder):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        seen = Watched(page)
        page.goto((folder / "report.html").as_uri())
        yield seen
        browser.close()


@pytest.fixture
def page(watched):
    watched.page.set_viewport_size({"width": 1280, "height": 900})
    dress(watched.page, "light")
    return watched.page


def dress(page, scheme):
    """Ask for light or dark as the system would, and wait until the page has noticed."""
    page.emulate_media(color_scheme=scheme)
    page.locator(f"html[data-theme={scheme}]").wait_for(state="attached", timeout=5000)


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (768, "dark"), (1280, "light")])
def test_never_wider_than_the_screen(page, width, scheme):
    dress(page, scheme)
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TOO_WIDE) == []
    if width == 360:  # wide tables scroll in their own frame
        frame = page.locator("#table-newsgroups .scroll")
        assert frame.evaluate("node => node.scrollWidth > node.clientWidth")
        assert frame.get_attribute("tabindex") == "0"


def test_an_edge_in_shade_says_that_a_table_goes_on(page):
    """At the left end the right edge is shaded, at the right end it is not."""
    page.set_viewport_size({"width": 360, "height": 800})
    frame = page.locator("#table-newsgroups .scroll")
    frame.evaluate("node => node.querySelectorAll('tr').forEach((r) => r.style.opacity = 0)")
    seen = []
    for end in ("0", "node.scrollWidth"):
        frame.evaluate(f"node => {{ node.scrollLeft = {end}; }}")
        frame.scroll_into_view_if_needed()
        box = frame.bounding_box()
        edge = {"x": box["x"] + box["width"] - 12, "y": box["y"] + 40, "width": 10, "height": 4}
        blank = {**edge, "x": box["x"] + box["width"] / 2}
        seen.append(page.screenshot(clip=edge) == page.screenshot(clip=blank))
    frame.evaluate("node => node.querySelectorAll('tr').forEach((r) => r.style.opacity = '')")
    assert seen == [False, True]


def test_text_can_be_read_and_pictures_have_names(page):
    for scheme in ("light", "dark"):
        dress(page, scheme)
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        found = page.evaluate(LOW_CONTRAST)
        assert found["low"] == []
        assert found["seen"] > 500
    assert page.evaluate(UNNAMED_IMAGES) == []
    assert page.evaluate("[...document.images].every((image) => image.naturalWidth > 0)")


def test_theme_follows_the_system_until_the_reader_chooses(page):
    theme = "document.documentElement.dataset.theme"
    background = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(background)
    dress(page, "dark")
    assert page.evaluate(background) != before
    button = page.get_by_role("button", name="Light theme")
    button.click()
    assert (page.evaluate(theme), page.evaluate(background)) == ("light", before)
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate(theme) == "dark"
    page.evaluate("localStorage.clear()")
    page.reload()


def test_the_toy_turns_by_mouse_and_by_keys_only(watched, page):
    canvas = page.locator("#toy-canvas")
    canvas.scroll_into_view_if_needed()
    still = watched.pixels()
    page.wait_for_timeout(120)
    assert watched.pixels() == still, "who asks for less motion gets none"
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 280, box["y"] + 230)
    page.mouse.up()
    dragged = watched.pixels()
    assert dragged != still
    canvas.focus()
    page.keyboard.press("ArrowRight")
    turned = watched.pixels()
    assert turned != dragged
    page.keyboard.press("ArrowLeft")
    assert watched.pixels() == dragged
    page.get_by_role("button", name="Turn slowly").click()
    page.wait_for_timeout(120)
    page.get_by_role("button", name="Stop turning").click()
    assert watched.pixels() != dragged


def test_the_toy_shows_and_says_what_was_chosen(watched, page, toy_points):
    status = page.locator("#toy-status")
    seen = [watched.pixels()]
    for label in ("k-means on raw points", "k-means on Spherical PCA", "true group"):
        page.get_by_label(label, exact=True).check()
        seen.append(watched.pixels())
        if label == "k-means on raw points":
            wrong = int((toy_points["kmeans"] != toy_points["group"]).sum())
            assert f"{wrong} wrong points are ringed" in status.inner_text()
            assert f"{100 * (1 - wrong / 200):.1f} %" in status.inner_text()
    for label in ("unit rows, on the sphere", "components, on the circle", "raw points"):
        page.get_by_label(label, exact=True).check()
        seen.append(watched.pixels())
    assert len(set(seen[:3])) == 3
    assert seen[0] == seen[3] == seen[6]
    assert len({seen[3], seen[4], seen[5]}) == 3


def test_no_errors_and_no_network(watched, page, folder):
    assert watched.complaints == []
    own = (folder / "report.html").as_uri()
    assert {url for url in watched.requests if not url.startswith("data:")} == {own}
