"""The page in a real browser: no errors, no network, at any width and in the dark."""

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
