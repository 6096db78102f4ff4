// The map: a camera, the frames while something moves, and which point is under the pointer.
"use strict";

const CELL = 16;          // pixels of the grid for picking, and how far a pick may be off
const FLIGHT = 900;       // milliseconds from the sphere to the plane, or to another side of it
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const between = (low, x, high) => Math.max(low, Math.min(high, x));
const ease = (t) => t * t * (3 - 2 * t);

const makeView = (stage, points, middles) => {
  const [back, front] = [stage.querySelector(".back"), stage.querySelector(".front")];
  let renderer = makeRenderer(stage.querySelector(".points"), points);
  const start = facing(busiest(middles));
  const view = {
    ...start, zoom: 1, flatZoom: 1, panX: 0, panY: 0,
    chart: false, flat: 0,   // what is wanted, and how far it is reached
    width: 1, height: 1, half: 1, fit: 1, ratio: 1, size: 4, dimmed: 4, matrix: new Float32Array(9),
    turning: !STILL.matches, paused: false, labels: true,
  };
  // How far the plane reaches in both directions, up to a few outliers.
  const reach = Object.fromEntries(["u", "v"].map((axis) => [axis, farOut(points[axis])]));
  let paint = new Uint8Array(4 * points.n);
  let theme = null;
  let flights = [];         // what changes by itself: { key, from, to, since }
  let stamp = 0;            // of the camera; what was computed for an older one is stale
  let frame = 0;
  let last = 0;
  let visible = true;
  const shown = { hover: -1, chosen: -1, middles };

  const lookAgain = () => {
    const { clientWidth: width, clientHeight: height } = stage;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const half = 0.43 * Math.min(width, height);
    const fit = (0.45 * Math.min(width / reach.u, height / reach.v)) / half;
    Object.assign(view, { width, height, ratio, half, fit });
    for (const canvas of stage.querySelectorAll("canvas")) {
      const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    }
    ask();
  };

  // A change of the camera: where points are on the screen has to be computed again.
  const aim = () => {
    const [sy, cy] = [Math.sin(view.yaw), Math.cos(view.yaw)];
    const [sp, cp] = [Math.sin(view.pitch), Math.cos(view.pitch)];
    view.matrix.set([-sy, -sp * cy, cp * cy, cy, -sp * sy, cp * sy, 0, cp, sp]);   // columns
    const zoom = view.flat > 0.5 ? view.flatZoom : view.zoom;
    const total = shown.middles.reduce((sum, { count }) => sum + count, 1);
    const room = (n) => between(2.2, 0.72 * Math.sqrt((view.width * view.height) / n), 8) * zoom ** 0.4;
    // Few among many are a little larger.
    Object.assign(view, { size: room(Math.sqrt(total * (points.n + 1))), dimmed: 0.8 * room(points.n + 1) });
    stamp += 1;
  };

  const place = (x, y, z, u, v) => {
    const m = view.matrix;
    const depth = m[2] * x + m[5] * y + m[8] * z;
    const scale = (1 - view.flat) * view.zoom * (EYE / (EYE - depth));
    const across = scale * (m[0] * x + m[3] * y + m[6] * z) + view.flat * view.fit * view.flatZoom * (u - view.panX);
    const up = scale * (m[1] * x + m[4] * y + m[7] * z) + view.flat * view.fit * view.flatZoom * (v - view.panY);
    return [view.width / 2 + view.half * across, view.height / 2 - view.half * up, Math.max(depth, view.flat)];
  };

  const screen = { x: new Float32Array(points.n), y: new Float32Array(points.n), depth: new Float32Array(points.n), stamp: -1 };
  const project = () => {
    if (screen.stamp === stamp) return screen;
    const { x, y, z, u, v } = points;
    const [a, b, c, d, e, f, g, h, k] = view.matrix;
    const [flat, half, panX, panY] = [view.flat, view.half, view.panX, view.panY];
    const [globe, chart] = [(1 - flat) * view.zoom * EYE, flat * view.fit * view.flatZoom];
    for (let i = 0; i < points.n; i += 1) {
      const depth = c * x[i] + f * y[i] + k * z[i];
      const scale = globe / (EYE - depth);
      screen.x[i] = view.width / 2 + half * (scale * (a * x[i] + d * y[i] + g * z[i]) + chart * (u[i] - panX));
      screen.y[i] = view.height / 2 - half * (scale * (b * x[i] + e * y[i] + h * z[i]) + chart * (v[i] - panY));
      screen.depth[i] = depth > flat ? depth : flat;
    }
    screen.stamp = stamp;
    return screen;
  };

  // Points in cells of the screen, by counting: members of cell c are items[heads[c] .. heads[c + 1]].
  const grid = { heads: new Int32Array(1), items: new Int32Array(points.n), columns: 0, lines: 0, stamp: -1 };
  const sortIntoCells = () => {
    if (grid.stamp === stamp) return;
    const at = project();
    const [columns, lines] = [Math.ceil(view.width / CELL), Math.ceil(view.height / CELL)];
    const cellOf = (i) => {
      const inside = at.x[i] >= 0 && at.x[i] < view.width && at.y[i] >= 0 && at.y[i] < view.height;
      if (!inside || at.depth[i] < 0.05 || !paint[4 * i + 3] || points.group[i] === NO_GROUP) return -1;
      return Math.floor(at.y[i] / CELL) * columns + Math.floor(at.x[i] / CELL);
    };
    const cells = new Int32Array(points.n);
    const heads = new Int32Array(columns * lines + 1);
    for (let i = 0; i < points.n; i += 1) {
      cells[i] = cellOf(i);
      if (cells[i] >= 0) heads[cells[i] + 1] += 1;
    }
    for (let c = 1; c < heads.length; c += 1) heads[c] += heads[c - 1];
    const next = heads.slice();
    for (let i = 0; i < points.n; i += 1) {
      if (cells[i] >= 0) grid.items[next[cells[i]]++] = i;
    }
    Object.assign(grid, { heads, columns, lines, stamp });
  };

  const pick = (x, y) => {
    sortIntoCells();
    const [column, line] = [Math.floor(x / CELL), Math.floor(y / CELL)];
    let [best, nearest] = [-1, CELL * CELL];
    for (let r = Math.max(0, line - 1); r <= Math.min(grid.lines - 1, line + 1); r += 1) {
      for (let c = Math.max(0, column - 1); c <= Math.min(grid.columns - 1, column + 1); c += 1) {
        const cell = r * grid.columns + c;
        for (let k = grid.heads[cell]; k < grid.heads[cell + 1]; k += 1) {
          const i = grid.items[k];
          const distance = (screen.x[i] - x) ** 2 + (screen.y[i] - y) ** 2;
          if (distance < nearest) [best, nearest] = [i, distance];
        }
      }
    }
    return best;
  };

  const advance = (now) => {
    if (view.turning && !view.paused && view.flat < 1 && last) view.yaw += 0.00012 * Math.min(now - last, 50);
    flights = flights.filter(({ key, from, to, since }) => {
      const t = STILL.matches ? 1 : between(0, (now - since) / FLIGHT, 1);
      view[key] = t < 1 ? from + (to - from) * ease(t) : to;
      return t < 1;
    });
  };
  const goesOn = () => flights.length > 0 || (view.turning && !view.paused && view.flat < 1 && visible);

  const step = (now) => {
    frame = 0;
    if (!view.width || !view.height) return;   // a page that is not laid out yet, or hidden
    advance(now);
    aim();
    paintGlobe(back, view, theme);
    renderer.draw(view, project);
    paintLabels(front, view, theme, { place, shown, points, project });
    last = now;
    if (goesOn()) ask();
    else last = 0;
  };
  const ask = () => {
    if (theme) frame ||= requestAnimationFrame(step);
  };

  const fly = (goals) => {
    const since = performance.now();
    flights = flights.filter(({ key }) => !(key in goals));
    Object.entries(goals).forEach(([key, to]) => flights.push({ key, from: view[key], to, since }));
    ask();
  };
  const change = (changes) => {
    flights = flights.filter(({ key }) => !(key in changes));
    Object.assign(view, changes);
    ask();
  };

  const api = {
    view, place, pick, fly, change, ask, project,
    name: () => renderer.name,
    repaint: (fresh, colours) => {
      [paint, theme] = [fresh, colours];
      renderer.repaint(paint);
      stamp += 1;
      grid.stamp = -1;
      ask();
    },
    show: (changes) => {
      Object.assign(shown, changes);
      ask();
    },
    // Bring a direction to the front of the sphere, a place to the middle of the plane.
    face: (middle, zoom) => {
      const goal = facing(middle);
      const round = Math.round((view.yaw - goal.yaw) / (2 * Math.PI)) * 2 * Math.PI;
      fly({
        yaw: goal.yaw + round, pitch: goal.pitch,
        ...(zoom && { panX: middle.u, panY: middle.v, flatZoom: zoom }),
      });
    },
    reset: () => fly({ ...start, zoom: 1, flatZoom: 1, panX: 0, panY: 0 }),
    flatten: (on) => {
      view.chart = on;
      fly({ flat: on ? 1 : 0 });
    },
  };

  stage.addEventListener("webglcontextlost", () => {
    const fresh = stage.querySelector(".points").cloneNode();
    stage.querySelector(".points").replaceWith(fresh);
    renderer = pixelRenderer(fresh, points);
    renderer.repaint(paint);
    ask();
  }, true);
  new ResizeObserver(lookAgain).observe(stage);
  new IntersectionObserver(([entry]) => {
    visible = entry.isIntersecting;
    ask();
  }).observe(stage);
  lookAgain();
  return api;
};

const farOut = (values) => {
  const sizes = values.map(Math.abs).sort();
  return Math.max(sizes[Math.floor(0.99 * (sizes.length - 1))] ?? 0, 0.1);
};
const facing = ({ x, y, z }) => ({
  yaw: Math.atan2(y, x),
  pitch: between(-1.35, Math.asin(between(-1, z / (Math.hypot(x, y, z) || 1), 1)), 1.35),
});
// Of the middles of groups, the one with most points on its side of the sphere.
const busiest = (middles) => {
  const around = (m) =>
    middles.reduce((sum, { x, y, z, count }) => sum + count * Math.max(0, m.x * x + m.y * y + m.z * z), 0);
  return middles.reduce((best, m) => (around(m) > around(best) ? m : best), middles[0] ?? { x: 1, y: 0, z: 0 });
};
