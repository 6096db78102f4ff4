// The reader's selection of groups, words and a text, and what the page shows of it.
"use strict";

(async () => {
  const points = await readPoints();
  const middles = middlesOf(points);
  const stage = byId("stage");
  const map = makeView(stage, points, middles);
  const [status, list, card, tip, box] = ["status", "texts", "card", "tip", "search"].map(byId);
  const buttons = (name) => document.querySelectorAll(name);
  const chosen = { groups: new Set(), query: "", uncertain: false, text: -1, more: 0 };
  let [ids, excerpts, lower] = [[], [], null];
  let shows = () => true;
  let colours = [];
  const PAGE = 30;

  const swatch = (group) => {
    const mark = make("i", { class: `swatch ${SHAPES[shapeOf(group)]}`, "aria-hidden": "true" });
    mark.style.color = `var(--g${group % facts.colours})`;
    return mark;
  };
  const isUncertain = (i) => points.group[i] !== NO_GROUP && points.margin[i] < facts.uncertain;
  const groupLine = (i) => {
    const group = points.group[i];
    const line = make("p", { class: "of" });
    if (group === NO_GROUP) line.append("No group: no known word");
    else line.append(swatch(group), [titleOf(group), nameOf(group)].filter(Boolean).join(" · "));
    return line;
  };
  const measures = (i) => {
    const doubt = isUncertain(i) ? " · uncertain" : "";
    return points.group[i] === NO_GROUP ? "" : `cosine ${shareText(points.cosine[i])} · margin ${shareText(points.margin[i])}${doubt}`;
  };

  // Search words are marked, if lower case does not change the length of the text.
  const marked = (text) => {
    const words = chosen.query.toLowerCase().split(/\s+/).filter(Boolean);
    const small = text.toLowerCase();
    const node = make("p", { class: "excerpt", dir: "auto" });
    let done = 0;
    while (words.length && small.length === text.length) {
      const hits = words.map((word) => [small.indexOf(word, done), word]).filter(([at]) => at >= 0);
      if (!hits.length) break;
      const [at, word] = hits.reduce((a, b) => (b[0] < a[0] ? b : a));
      node.append(text.slice(done, at), make("mark", {}, text.slice(at, at + word.length)));
      done = at + word.length;
    }
    node.append(text.slice(done));
    return node;
  };

  const repaint = () => {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(`--${name}`).trim();
    const names = ["paper", "text", "line", "rule", "muted"];
    const theme = Object.fromEntries(names.map((name) => [name, value(name)]));
    colours = Array.from({ length: facts.colours }, (_, k) => value(`g${k}`));
    theme.groups = facts.labels.map((_, group) => colours[group % facts.colours]);
    [theme.globeLight, theme.globeDark] = [value("globe-light"), value("globe-dark")];
    const rgb = (colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
    const [triples, grey] = [theme.groups.map(rgb), rgb(theme.muted)];
    const paint = new Uint8Array(4 * points.n);
    for (let i = 0; i < points.n; i += 1) {
      const shown = shows(i);
      paint.set(shown ? triples[points.group[i]] ?? grey : grey, 4 * i);
      paint[4 * i + 3] = shown ? 255 : 0;
    }
    map.repaint(paint, theme);
  };

  const listTexts = () => {
    const filtered = chosen.groups.size || chosen.query || chosen.uncertain;
    byId("clear").hidden = !filtered;
    list.replaceChildren();
    const found = [];
    for (let i = 0; i < points.n; i += 1) if (shows(i)) found.push(i);
    const all = points.n.toLocaleString("en");
    status.textContent = filtered ? `${found.length.toLocaleString("en")} of ${all} texts` : `${all} texts`;
    byId("sorting").hidden = !filtered;
    byId("hint").hidden = Boolean(filtered);
    document.body.classList.toggle("filtered", Boolean(filtered));
    if (!filtered) return;
    const key = byId("order").value === "margin" ? (i) => points.margin[i] : (i) => -points.cosine[i];
    found.sort((a, b) => key(a) - key(b));
    found.slice(0, PAGE * (1 + chosen.more)).forEach((i) => {
      const button = make("button", { type: "button", "data-text": i }, groupLine(i), marked(excerpts[i] ?? ""));
      button.append(make("small", {}, make("bdi", {}, ids[i] ?? ""), ` · ${measures(i)}`));
      list.append(make("li", {}, button));
    });
    if (found.length > PAGE * (1 + chosen.more)) {
      list.append(make("li", {}, make("button", { type: "button", class: "more" }, "Show more")));
    }
  };

  // During a search the legend counts what was found.
  const countHits = (hit) => {
    const looking = chosen.query || chosen.uncertain;
    const found = middlesOf(points, (i) => hit(i) && (!chosen.uncertain || isUncertain(i)));
    buttons(".legend-list .size b").forEach((node, group) => {
      node.textContent = looking ? `${found[group].count.toLocaleString("en")} of ` : "";
    });
  };

  const apply = () => {
    const hit = chosen.query && lower ? search(chosen.query, lower) : () => true;
    const { groups, uncertain } = chosen;
    shows = (i) =>
      (!groups.size || groups.has(points.group[i])) && hit(i) && (!uncertain || isUncertain(i));
    buttons("[data-group]").forEach((button) => {
      button.setAttribute("aria-pressed", String(groups.has(Number(button.dataset.group))));
    });
    document.body.classList.toggle("some", groups.size > 0);
    map.show({ middles: middlesOf(points, shows), hover: -1 });
    countHits(hit);
    repaint();
    showMargins(shows);
    listTexts();
  };

  const face = (middle) => {
    if (!middle.count) return;
    stopTurning();
    map.face(middle);
  };

  const chooseGroup = (group, add) => {
    const had = chosen.groups.has(group);
    const alone = had && chosen.groups.size === 1;
    if (!add) chosen.groups.clear();
    if (add && had) chosen.groups.delete(group);
    else if (!alone) chosen.groups.add(group);
    chosen.more = 0;
    apply();
    if (chosen.groups.size === 1) face(middles[[...chosen.groups][0]]);
  };

  const chooseText = (i, { fly = false } = {}) => {
    chosen.text = i;
    card.hidden = i < 0;
    map.show({ chosen: i });
    if (i < 0) return;
    const excerpt = make("p", { class: "excerpt", dir: "auto" }, excerpts[i] ?? "");
    byId("card-text").replaceChildren(groupLine(i), make("h3", {}, make("bdi", {}, ids[i] ?? "")), excerpt, make("p", { class: "measures" }, measures(i)));
    if (!fly || points.group[i] === NO_GROUP) return;
    stopTurning();
    const { x, y, z, u, v } = points;
    map.face({ x: x[i], y: y[i], z: z[i], u: u[i], v: v[i] }, Math.max(map.view.flatZoom, 2));
  };

  const hover = (x, y) => {
    const i = x < 0 ? -1 : map.pick(x, y);
    stage.style.cursor = i >= 0 ? "pointer" : "";
    map.show({ hover: i });
    tip.hidden = i < 0;
    if (i < 0) return;
    tip.replaceChildren(groupLine(i), make("p", { class: "excerpt", dir: "auto" }, excerpts[i] ?? ""), make("small", {}, make("bdi", {}, ids[i] ?? ""), ` · ${measures(i)}`));
    const { width, height } = map.view;
    tip.style.left = `${between(8, x + 16 + tip.offsetWidth > width ? x - tip.offsetWidth - 16 : x + 16, width)}px`;
    tip.style.top = `${between(8, y + 16 + tip.offsetHeight > height ? y - tip.offsetHeight - 12 : y + 16, height)}px`;
  };

  const turn = byId("turn");
  const setTurning = (on) => {
    map.change({ turning: on });
    turn.setAttribute("aria-pressed", String(on));
    turn.textContent = on ? "Stop" : "Rotate";
  };
  const stopTurning = () => {
    if (map.view.turning) setTurning(false);
  };
  const { zoomBy } = listen(stage, map, { hover, stopTurning, choose: (x, y) => { stopTurning(); chooseText(map.pick(x, y)); } });

  const flatten = (on) => {
    map.flatten(on);
    buttons("[data-view]").forEach((button) => button.setAttribute("aria-pressed", String((button.dataset.view === "flat") === on)));
    turn.hidden = on;
  };
  buttons("[data-view]").forEach((button) => button.addEventListener("click", () => flatten(button.dataset.view === "flat")));
  turn.addEventListener("click", () => setTurning(!map.view.turning));
  byId("reset").addEventListener("click", () => map.reset());
  byId("closer").addEventListener("click", () => zoomBy(1.4));
  byId("further").addEventListener("click", () => zoomBy(1 / 1.4));
  byId("labels").addEventListener("change", (event) => map.change({ labels: event.target.checked }));
  byId("uncertain").addEventListener("change", (event) => {
    Object.assign(chosen, { uncertain: event.target.checked, more: 0 });
    apply();
  });
  byId("order").addEventListener("change", listTexts);
  byId("close").addEventListener("click", () => chooseText(-1));
  byId("clear").addEventListener("click", () => {
    Object.assign(chosen, { query: "", uncertain: false, more: 0 });
    chosen.groups.clear();
    box.value = "";
    byId("uncertain").checked = false;
    apply();
    box.focus();
  });
  let pending = 0;
  box.addEventListener("input", () => {
    clearTimeout(pending);
    pending = setTimeout(() => {
      Object.assign(chosen, { query: box.value.trim(), more: 0 });
      apply();
      if (chosen.query) face(busiest(middlesOf(points, shows)));
    }, 120);
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") chooseText(-1);
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      box.focus();
    }
  });
  document.addEventListener("click", (event) => {
    const on = (name) => event.target.closest(name);
    const group = on("[data-group]");
    const text = on("[data-text], [data-id]");
    if (group) {
      chooseGroup(Number(group.dataset.group), event.shiftKey || event.ctrlKey || event.metaKey);
      if (group.dataset.go) byId("map").scrollIntoView();
    } else if (text) {
      chooseText(text.dataset.text ? Number(text.dataset.text) : ids.indexOf(text.dataset.id), { fly: true });
      // Where the panel is below the map, a text that is chosen there is out of sight.
      if (text.dataset.id) byId("map").scrollIntoView();
      else stage.scrollIntoView({ block: "nearest" });
    } else if (on(".more")) {
      chosen.more += 1;
      const before = list.children.length - 1;
      listTexts();
      list.children[before]?.querySelector("button").focus();
    }
  });

  const showMargins = histogram(byId("histogram"), points);
  curve(byId("curve"));
  tree(byId("tree"), (group) => {
    const button = make("button", { type: "button", "data-group": group, "aria-pressed": "false" }, swatch(group));
    button.append(make("span", {}, nameOf(group) || titleOf(group)));
    return button;
  });
  new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  setTurning(map.view.turning);
  apply();
  stage.dataset.drawn = map.name();

  [ids, excerpts] = await Promise.all(["data-ids", "data-excerpts"].map(readLines));
  lower = excerpts.map((text, i) => `${ids[i]} ${text}`.toLowerCase());
  const there = new Set(ids);
  buttons("[data-id]").forEach((button) => { button.hidden = !there.has(button.dataset.id); });
  apply();
  stage.dataset.ready = "";
})();
