"""The page of groups in a real browser: drawing, search and text, at any width."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
from scipy.cluster.hierarchy import leaves_list

pytest.importorskip("jinja2")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import sync_playwright

from sphericalpca.groups.page import groups_page

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
OPTIONS += ["--enable-unsafe-swiftshader"]  # WebGL without a graphics card

pytestmark = [
    pytest.mark.slow("browser"),
    pytest.mark.skipif(
        CHROMIUM is None, reason="no chromium: install it, or name one in the variable CHROMIUM"
    ),
]

# The page does without emulated WebGL, unless it is made to believe that WebGL is real.
BELIEVE = """
  WebGLRenderingContext.prototype.getExtension = () => null;
"""
# How long each frame's script took.
TIMED = """
  const ask = requestAnimationFrame;
  window.taken = [];
  window.requestAnimationFrame = (draw) => ask((now) => {
    const since = performance.now();
    draw(now);
    taken.push(performance.now() - since);
  });
"""
TOO_WIDE = """
() => [...document.querySelectorAll("main *")]
  .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5)
  .filter((node) => !node.closest(".sr") && !node.closest(".legend-list, .words"))
  .map((node) => node.outerHTML.slice(0, 90))
"""
# Words whose contrast with what is behind them is below 4.5 (3 where they are large).
FAINT = """
() => {
  const paint = document.createElement("canvas").getContext("2d");
  const rgb = (colour) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.map((x) => linear(x / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const words = walker.currentNode.data.trim();
    if (!words || !node.checkVisibility() || node.closest("script, noscript, .sr")) continue;
    const style = getComputedStyle(node);
    const [a, b] = [light(rgb(style.color)), light(behind(node))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= (style.fontWeight >= 700 ? 18.6 : 24);
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) found.push(words);
  }
  return found;
}
"""
# Picking by cells, and by looking at every point.
PICKS = """
async (flat) => {
  const points = await readPoints();
  const map = makeView(byId("stage"), points, middlesOf(points));
  const theme = { groups: [], globeLight: "#fff", globeDark: "#fff" };
  if (flat) map.change({ flat: 1 });
  map.repaint(new Uint8Array(4 * points.n).fill(255), theme);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const at = map.project();
  const slow = (x, y) => {
    let [best, nearest] = [-1, 256];
    for (let i = 0; i < points.n; i += 1) {
      const distance = (at.x[i] - x) ** 2 + (at.y[i] - y) ** 2;
      const inside =
        at.x[i] >= 0 && at.x[i] < map.view.width && at.y[i] >= 0 && at.y[i] < map.view.height;
      const shown = inside && points.group[i] !== NO_GROUP && at.depth[i] >= 0.05;
      if (shown && distance < nearest) [best, nearest] = [i, distance];
    }
    return best;
  };
  const found = [];
  for (let x = 3; x < map.view.width; x += 13) {
    for (let y = 5; y < map.view.height; y += 11) found.push([map.pick(x, y), slow(x, y)]);
  }
  return found;
}
"""
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open the page of some data; at the end nothing was complained of and nothing loaded."""
    complaints, requests, contexts, own = [], [], [], (tmp_path / "index.html").as_uri()

    def go(data, *scripts, width=1400, height=900, motion="reduce", **options):
        (tmp_path / "index.html").write_text(groups_page(data), encoding="utf-8")
        size = {"width": width, "height": height}
        contexts.append(browser.new_context(viewport=size, reduced_motion=motion, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        for script in scripts:
            page.add_init_script(script)
        page.goto(own)
        page.locator("[data-ready]").wait_for(state="attached", timeout=60_000)
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []
    assert {url for url in requests if not url.startswith("data:")} <= {own}


def until(page, condition):
    """The page's own policy allows no strings of code, so the waiting is done here."""
    for _ in range(300):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(condition)


def picture(page):
    """The map without its round corners, which are not always the same."""
    page.evaluate(FRAMES)
    box = page.locator("#stage").bounding_box()
    clip = {name: box[name] + 20 for name in ("x", "y")}
    return page.screenshot(clip=clip | {name: box[name] - 40 for name in ("width", "height")})


def point_at_one(page):
    """Move over the map until a text is shown; where that is."""
    box = page.locator("#stage").bounding_box()
    for x in range(0, 300, 6):
        place = box["x"] + box["width"] / 2 - 150 + x, box["y"] + box["height"] / 2
        page.mouse.move(*place)
        if page.locator("#tip").is_visible():
            return place
    return pytest.fail("no text under the pointer")


@pytest.mark.parametrize("renderer", ["canvas", "WebGL"])
def test_the_map_draws_turns_zooms_and_flattens(visit, made, renderer):
    page = visit(made(), *[BELIEVE] * (renderer == "WebGL"))
    assert page.locator("#stage").get_attribute("data-drawn") == renderer
    seen = [picture(page)]

    def looks_new():
        # A loaded machine may draw a little late.
        seen.append(next((new for _ in range(20) if (new := picture(page)) not in seen), b""))
        return seen[-1]

    for name in ("Flat", "Zoom in"):
        page.get_by_role("button", name=name).click()
        assert looks_new()
    page.get_by_role("button", name="Sphere").click()
    page.locator("#stage").focus()
    for key in ("ArrowLeft", "ArrowUp", "+"):
        page.keyboard.press(key)
        assert looks_new()
    page.keyboard.press("0")
    page.evaluate("document.activeElement.blur()")
    assert any(picture(page) == seen[0] for _ in range(20))


@pytest.mark.parametrize("flat", [False, True])
def test_cells_find_what_a_search_of_all_points_finds(visit, made, flat):
    found = np.array(visit(made(3000, 7)).evaluate(PICKS, flat))
    assert (found[:, 0] >= 0).mean() > 0.05
    np.testing.assert_array_equal(found[:, 0], found[:, 1])


def test_pointing_and_clicking_show_the_text(visit, made):
    data = made(2000)
    page = visit(data)
    place = point_at_one(page)
    name = page.locator("#tip bdi").inner_text()
    excerpt = data.excerpts[data.ids.index(name)]
    assert page.locator("#tip .excerpt").inner_text() == excerpt
    page.mouse.click(*place)
    assert page.locator("#card .excerpt").inner_text() == excerpt
    assert (
        f"cosine {data.cosine[data.ids.index(name)]:.3f}".replace(" 0.", " .")
        in page.locator("#card").inner_text()
    )
    page.keyboard.press("Escape")
    assert page.locator("#card").is_hidden()


def test_a_tap_shows_the_text(visit, made):
    data = made(3000, 2)
    page = visit(data, width=400, height=800, has_touch=True)
    box = page.locator("#stage").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.locator("#card .excerpt").inner_text() in data.excerpts


def test_search_finds_texts_and_ids(visit, made, evil):
    data = made()
    page = visit(data)
    page.keyboard.press("/")
    page.keyboard.type("NEEDLE42 says")
    texts = page.locator("#texts li")
    page.get_by_text("1 of 200 texts", exact=True).wait_for()
    assert texts.locator(".excerpt").all_inner_texts() == [data.excerpts[42]]
    assert texts.locator("mark").all_inner_texts() == ["needle42", "says"]
    texts.locator("button").click()
    assert page.locator("#card .excerpt").inner_text() == data.excerpts[42]
    page.locator("#search").fill("onerror")  # one has it in its text, another in its id
    page.get_by_text("2 of 200 texts", exact=True).wait_for()
    assert evil in texts.locator(".excerpt").all_inner_texts()
    assert page.locator("main img").count() == 0
    page.get_by_role("button", name="Show all").click()
    assert page.locator("#status").inner_text() == "200 texts"
    page.locator("#search").fill("needle199")  # no known word, yet found
    page.get_by_text("1 of 200 texts", exact=True).wait_for()
    assert "No group" in texts.inner_text()


def test_groups_filter_add_up_and_sort(visit, made):
    data = made()
    page = visit(data)
    before = picture(page)
    legend = page.locator(".legend-list button")
    sizes = [int((data.group == group).sum()) for group in range(4)]
    status = page.locator("#status")
    legend.nth(2).click()
    assert status.inner_text() == f"{sizes[2]} of 200 texts"
    assert picture(page) != before
    assert {b.get_attribute("aria-pressed") for b in page.locator("[data-group='2']").all()} == {
        "true"
    }
    for order, wanted in (("cosine", -data.cosine), ("margin", data.margin)):
        page.locator("#order").select_option(order)
        first = page.locator("#texts bdi").first.inner_text()
        rows = np.flatnonzero(data.group == 2)
        assert first == data.ids[rows[np.argmin(wanted[rows])]]
    legend.nth(1).click(modifiers=["Shift"])
    assert status.inner_text() == f"{sizes[1] + sizes[2]} of 200 texts"
    page.locator("#groups article").nth(3).locator("h3 button").click()
    assert status.inner_text() == f"{sizes[3]} of 200 texts"
    legend.nth(3).click()
    assert status.inner_text() == "200 texts"
    page.get_by_label("Only uncertain texts").check()
    uncertain = (data.margin < data.uncertain) & (data.group >= 0)
    assert status.inner_text() == f"{uncertain.sum()} of 200 texts"


def test_a_text_of_a_card_is_shown_on_the_map(visit, made):
    data = made()
    page = visit(data)
    card = page.locator("#groups article").nth(1)
    card.get_by_text("Borderline texts").click()
    card.get_by_role("button", name="on the map").last.click()
    assert (
        page.locator("#card .excerpt").inner_text() == data.groups[1]["borderline"][-1]["excerpt"]
    )


def test_charts_show_their_numbers(visit, made):
    data = made()
    page = visit(data)
    names = [f"word{g}a, word{g}b, word{g}c" for g in range(4)]
    leaves = page.locator("#tree li").all_inner_texts()
    for place, group in enumerate(leaves_list(data.tree)):
        assert group == 0 or leaves[place] == names[group]
    assert page.locator("#curve .dot").count() == len(data.curve)
    heights = [
        float(bar.get_attribute("height")) for bar in page.locator("#histogram .uncertain").all()
    ]
    others = [float(bar.get_attribute("height")) for bar in page.locator("#histogram .sure").all()]
    known = data.margin[data.group >= 0]
    assert sum(heights) / sum(heights + others) == pytest.approx(
        (known < data.uncertain).mean(), abs=1e-3
    )


@pytest.mark.parametrize(
    ("width", "scheme"), [(400, "light"), (768, "dark"), (1400, "light"), (400, "dark")]
)
def test_it_fits_the_screen_and_can_be_read(visit, made, width, scheme):
    """With a group chosen, a text open and all details shown."""
    long = made(excerpts=["W" * 300] * 200, ids=["V" * 120] * 200)
    page = visit(long, width=width, color_scheme=scheme)
    page.locator(".legend-list button").nth(1).click()
    page.locator("#texts button").first.click()
    page.evaluate("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate(FAINT) == []


def test_a_text_that_is_chosen_is_in_sight(visit, made):
    """On a phone the list is below the map."""
    page = visit(made(), width=400)
    page.locator(".legend-list button").first.click()
    page.locator("#texts button").first.click()
    until(page, "document.getElementById('stage').getBoundingClientRect().top >= 0")
    assert page.locator("#card .excerpt").is_visible()


def test_a_page_without_a_size_waits_for_one(visit, made):
    page = visit(made())
    before = picture(page)
    page.evaluate("document.querySelector('main').style.display = 'none'")
    page.evaluate(FRAMES)
    page.evaluate("document.querySelector('main').style.display = ''")
    page.evaluate(FRAMES)
    assert picture(page) == before


def test_it_turns_by_itself_until_it_is_touched(visit, made):
    page = visit(made(), TIMED, motion="no-preference")
    first = picture(page)
    page.wait_for_timeout(300)
    assert picture(page) != first
    point_at_one(page)
    page.mouse.down()
    page.mouse.move(600, 500, steps=5)
    page.mouse.up()
    page.mouse.move(5, 5)
    page.wait_for_timeout(300)
    page.evaluate("taken.length = 0")
    page.wait_for_timeout(300)
    assert page.evaluate("taken.length") == 0
    page.get_by_role("button", name="Rotate").click()
    page.wait_for_timeout(300)
    assert page.evaluate("taken.length") > 0


def test_a_reader_who_wants_no_motion_has_none(visit, made):
    page = visit(made(), TIMED)
    page.wait_for_timeout(300)
    page.evaluate("taken.length = 0")
    page.wait_for_timeout(300)
    assert page.evaluate("taken.length") == 0


def test_the_wheel_zooms_and_otherwise_scrolls(visit, made):
    page = visit(made())
    before = picture(page)
    box = page.locator("#stage").bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 40)
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(100)
    assert page.evaluate("scrollY") == 0
    assert picture(page) != before
    page.mouse.wheel(0, 9000)
    page.mouse.wheel(0, 600)
    until(page, "scrollY > 0")


@pytest.mark.parametrize("renderer", ["canvas", "WebGL"])
def test_a_hundred_thousand_points(visit, made, renderer, record_property):
    """Times are reported, not asserted."""
    data = made(100_000, 30)
    page = visit(data, TIMED, *[BELIEVE] * (renderer == "WebGL"), motion="no-preference")
    assert page.locator("#status").inner_text() == "100,000 texts"
    page.evaluate("taken.length = 0")
    until(page, "taken.length >= 10")
    record_property(
        f"{renderer}: median ms of script per frame", float(np.median(page.evaluate("taken")))
    )
    page.locator("#search").fill("needle99998")
    page.get_by_text("1 of 100,000 texts").wait_for()
