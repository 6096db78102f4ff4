// Small charts that stretch with the page: lines are SVG, words are HTML around it.
"use strict";

const shareText = (value) => value.toFixed(3).replace(/^(-?)0\./, "$1.").replace("-", "−");
const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
  node.append(...children);
  return node;
};
const makeSvg = (tag, attributes, parent) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
  parent.append(node);
  return node;
};
const canvasFor = (box, width, height, label) =>
  makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label }, box);
const ticksOn = (box, ticks) => {
  const axis = make("div", { class: "axis", "aria-hidden": "true" });
  ticks.forEach(([percent, text]) => {
    const tick = make("span", {}, text);
    tick.style.left = `${percent}%`;
    axis.append(tick);
  });
  box.append(axis);
};
const roundSteps = (low, high, most) => {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 15, 30].find((s) => (high - low) / s <= most) ?? high - low;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
};

// Margins in bars; the last one takes all that are larger.  Returns how to show a filter.
const histogram = (box, points) => {
  const BARS = 48;
  const known = points.margin.filter((_, i) => points.group[i] !== NO_GROUP).sort();
  if (!box || !known.length) return () => {};
  const least = Math.min(0, known[0]);
  const large = Math.max(known[Math.floor(0.995 * (known.length - 1))], least + 1e-3);
  const width = (large - least) / BARS;
  // Bars end where uncertainty ends.
  const low = facts.uncertain - Math.ceil((facts.uncertain - least) / width) * width;
  const high = low + BARS * width;
  const count = (shows) => {
    const counts = new Float64Array(BARS);
    for (let i = 0; i < points.n; i += 1) {
      if (points.group[i] === NO_GROUP || !shows(i)) continue;
      counts[between(0, Math.floor((points.margin[i] - low) / width), BARS - 1)] += 1;
    }
    return counts;
  };
  const all = count(() => true);
  const most = Math.max(...all);
  const picture = canvasFor(box, BARS, 100, `Margins from ${shareText(low)} to ${shareText(high)} and beyond`);
  const bars = [...all].map((_, bar) => {
    const uncertain = low + (bar + 0.5) * width < facts.uncertain;
    makeSvg("rect", { x: bar + 0.08, width: 0.84, class: "all", y: 100 - (100 * all[bar]) / most, height: (100 * all[bar]) / most }, picture);
    return makeSvg("rect", { x: bar + 0.08, width: 0.84, class: uncertain ? "uncertain" : "sure" }, picture);
  });
  const line = ((facts.uncertain - low) / width).toFixed(3);
  if (facts.uncertain > low && facts.uncertain < high) makeSvg("path", { d: `M${line} 0V100`, class: "limit" }, picture);
  ticksOn(box, roundSteps(low, high, 6).map((x) => [(100 * (x - low)) / (high - low), x ? shareText(x) : "0"]));
  return (shows) => {
    const counts = count(shows);
    bars.forEach((bar, k) => {
      bar.setAttribute("y", 100 - (100 * counts[k]) / most);
      bar.setAttribute("height", (100 * counts[k]) / most);
    });
  };
};

// Groups in the order of the leaves, one per line; mergers by angle, to the right.
const tree = (box, leafButton) => {
  const n = facts.tree.length + 1;
  if (!box || n < 2) return;
  const leaves = (node) => {
    const [stack, found] = [[node], []];
    while (stack.length) {
      const top = stack.pop();
      if (top < n) found.push(top);
      else stack.push(facts.tree[top - n][1], facts.tree[top - n][0]);
    }
    return found;
  };
  const order = leaves(2 * n - 2);
  const [row, angle] = [new Float64Array(2 * n - 1), new Float64Array(2 * n - 1)];
  order.forEach((leaf, i) => { row[leaf] = i + 0.5; });
  const angles = facts.tree.map(([, , height]) => height);
  const nearest = Math.max(0, 5 * Math.floor(Math.min(...angles) / 5 - 0.5));
  const widest = Math.max(...angles, nearest + 1) + 1;
  angle.fill(nearest);
  const path = facts.tree.map(([a, b, height], i) => {
    row[n + i] = (row[a] + row[b]) / 2;
    angle[n + i] = height;
    return `M${angle[a] - nearest} ${row[a]}H${height - nearest}V${row[b]}H${angle[b] - nearest}`;
  });
  const list = make("ul", { class: "leaves" });
  order.forEach((leaf) => list.append(make("li", {}, leafButton(facts.labels.indexOf(leaf)))));
  const side = make("div", { class: "branches" });
  const picture = canvasFor(side, widest - nearest, n, "Tree of groups: the further right two branches meet, the larger the angle between them");
  const ticks = roundSteps(nearest, widest, window.innerWidth < 600 ? 3 : 6);
  ticks.forEach((x) => makeSvg("path", { d: `M${x - nearest} 0V${n}`, class: "rule" }, picture));
  makeSvg("path", { d: path.join(""), class: "branch" }, picture);
  picture.style.height = `calc(${n} * var(--row))`;
  ticksOn(side, ticks.map((x) => [(100 * (x - nearest)) / (widest - nearest), `${Math.round(x)}°`]));
  box.append(list, side);
};

// Scores of `-k auto` with intervals; numbers of groups on a logarithmic scale.
const curve = (box) => {
  if (!box || !facts.curve.length) return;
  const rows = facts.curve.map(([k, score, low, high]) => [k, score ?? 0, low ?? score ?? 0, high ?? score ?? 0]).sort((a, b) => a[0] - b[0]);
  const [first, last] = [rows[0][0], rows[rows.length - 1][0]];
  const across = (k) => (last > first ? (100 * Math.log(k / first)) / Math.log(last / first) : 50);
  const values = rows.flatMap((row) => row.slice(1));
  const [low, high] = [Math.min(0, ...values), Math.max(...values) * 1.05 || 1];
  const up = (y) => 100 - (100 * (y - low)) / (high - low);
  const chosen = facts.labels.length;
  const words = rows.map(([k, score]) => `${k}: ${shareText(score)}`).join(", ");
  const picture = canvasFor(box, 100, 100, `Score by number of groups. ${words}`);
  const steps = roundSteps(low, high, 5);
  steps.forEach((y) => makeSvg("path", { d: `M0 ${up(y)}H100`, class: "rule" }, picture));
  const band = [...rows.map(([k, , , y]) => `${across(k)} ${up(y)}`), ...rows.map(([k, , y]) => `${across(k)} ${up(y)}`).reverse()];
  makeSvg("path", { d: `M${band.join("L")}Z`, class: "band" }, picture);
  makeSvg("path", { d: `M${rows.map(([k, y]) => `${across(k)} ${up(y)}`).join("L")}`, class: "branch" }, picture);
  // A line without length and with round ends is a dot that does not stretch.
  rows.forEach(([k, y]) => makeSvg("path", { d: `M${across(k)} ${up(y)}h0`, class: k === chosen ? "dot chosen" : "dot" }, picture));
  const heights = make("div", { class: "heights", "aria-hidden": "true" });
  steps.forEach((y) => {
    const tick = make("span", {}, y ? shareText(y) : "0");
    tick.style.top = `${up(y)}%`;
    heights.append(tick);
  });
  box.append(heights);
  let right = -Infinity;
  const clear = rows.filter(([k]) => k === chosen || Math.abs(across(k) - across(chosen)) > 7).filter(([k]) => {
    if (across(k) < right + 7) return false;
    right = across(k);
    return true;
  });
  ticksOn(box, clear.map(([k]) => [across(k), String(k)]));
};
