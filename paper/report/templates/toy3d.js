// The toy in space: points that can be turned, and that fly from where they are to the unit
// sphere (unit rows) and on to the circle in the fitted plane (Spherical PCA's components).
(() => {
  "use strict";
  const canvas = document.getElementById("toy-canvas");
  const data = JSON.parse(document.getElementById("toy-data")?.textContent ?? "null");
  if (!canvas || !data) return;

  const pen = canvas.getContext("2d");
  const status = document.getElementById("toy-status");
  const turnButton = document.getElementById("toy-turn");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const SIDE = 20;   // coordinates of the raw points run from 0 to 20
  const EYE = 5;     // distance of the eye, in radii of the sphere

  const length = (p) => Math.hypot(...p);
  const plane = data.plane;
  const inPlane = ([a, b]) => plane.map((row) => row[0] * a + row[1] * b);
  const views = {
    raw: data.points.map((p) => p.map((x) => x / SIDE)),
    unit: data.points.map((p) => p.map((x) => x / length(p))),
    components: data.components.map(inPlane),
  };
  const wrongWords = {
    group: () => "Both groups as they are.",
    kmeans: (wrong) => `K-means on the raw points: ${right(wrong)}`,
    spherical: (wrong) => `K-means on Spherical PCA’s components: ${right(wrong)}`,
  };
  const right = (wrong) => {
    const share = (100 * (1 - wrong / data.points.length)).toFixed(1);
    const ringed = wrong === 1 ? "1 wrong point is ringed" : `${wrong} wrong points are ringed`;
    return wrong ? `${share} % right, ${ringed}.` : "all points right.";
  };

  let view = "raw";
  let colour = "group";
  let yaw = 0.75;
  let pitch = 0.32;
  let turning = !still.matches;
  let visible = true;
  let places = views.raw.map((p) => [...p]);
  let flight = null;   // from where, and since when, while points fly
  let theme = {};
  let frame = 0;
  let last = 0;

  // What a point in space becomes on the canvas: x, y, depth towards the eye, size.
  const projection = () => {
    const { clientWidth: width, clientHeight: height } = canvas;
    const scale = 0.37 * Math.min(width, height);
    const [sy, cy, sp, cp] = [Math.sin(yaw), Math.cos(yaw), Math.sin(pitch), Math.cos(pitch)];
    return ([x, y, z]) => {
      const lifted = z - 0.18;   // the points are above the centre, so the eye looks there
      const across = -sy * x + cy * y;
      const up = -sp * cy * x - sp * sy * y + cp * lifted;
      const depth = cp * cy * x + cp * sy * y + sp * lifted;
      const size = EYE / (EYE - depth);
      return [width / 2 + scale * across * size, height / 2 - scale * up * size, depth, size];
    };
  };

  const circle = (place, steps = 72) =>
    Array.from({ length: steps + 1 }, (_, i) => place((2 * Math.PI * i) / steps));

  const stroke = (points, project, color, width, alpha) => {
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.globalAlpha = alpha;
    pen.beginPath();
    points.forEach((p, i) => {
      const [x, y] = project(p);
      if (i) pen.lineTo(x, y);
      else pen.moveTo(x, y);
    });
    pen.stroke();
    pen.globalAlpha = 1;
  };

  const drawSphere = (project) => {
    for (let i = 0; i < 6; i += 1) {
      const a = (Math.PI * i) / 6;
      const ring = circle((t) => [Math.cos(a) * Math.cos(t), Math.sin(a) * Math.cos(t), Math.sin(t)]);
      stroke(ring, project, theme.rule, 1, 0.7);
    }
    for (let i = -2; i <= 2; i += 1) {
      const [s, c] = [Math.sin((Math.PI * i) / 6), Math.cos((Math.PI * i) / 6)];
      stroke(circle((t) => [c * Math.cos(t), c * Math.sin(t), s]), project, theme.rule, 1, 0.7);
    }
  };

  const drawPlane = (project) => {
    const rim = circle((t) => inPlane([Math.cos(t), Math.sin(t)]));
    pen.beginPath();
    rim.forEach((p, i) => {
      const [x, y] = project(p);
      if (i) pen.lineTo(x, y);
      else pen.moveTo(x, y);
    });
    pen.globalAlpha = 0.13;
    pen.fillStyle = theme.c2;
    pen.fill();
    stroke(rim, project, theme.c2, 1.6, 0.95);
  };

  const drawAxes = (project) => {
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    ["x", "y", "z"].forEach((name, axis) => {
      const tip = [0, 0, 0];
      tip[axis] = 1.3;
      stroke([[0, 0, 0], tip], project, theme.ink, 1, 0.8);
      tip[axis] = 1.4;
      const [x, y] = project(tip);
      pen.fillStyle = theme.ink;
      pen.fillText(name, x, y);
    });
  };

  const drawPoint = ([x, y, depth, size], group, wrong) => {
    const radius = 4 * size;
    pen.globalAlpha = Math.min(1, Math.max(0.45, 0.75 + 0.3 * depth));
    pen.fillStyle = group ? theme.c1 : theme.c0;
    pen.beginPath();
    // A second cue beside colour: the second group is square.
    if (group) pen.rect(x - 0.9 * radius, y - 0.9 * radius, 1.8 * radius, 1.8 * radius);
    else pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fill();
    pen.globalAlpha = 1;
    if (!wrong) return;
    pen.strokeStyle = theme.text;
    pen.lineWidth = 1.6;
    pen.beginPath();
    pen.arc(x, y, radius + 3, 0, 2 * Math.PI);
    pen.stroke();
  };

  const draw = () => {
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const project = projection();
    drawSphere(project);
    drawPlane(project);
    drawAxes(project);
    const shown = places.map((p, i) => [project(p), i]);
    shown.sort(([a], [b]) => a[2] - b[2]);
    const found = data.labels[colour];
    shown.forEach(([p, i]) => drawPoint(p, found[i], found[i] !== data.labels.group[i]));
  };

  const fly = (now) => {
    const t = Math.min(1, (now - flight.since) / 900);
    const ease = t * t * (3 - 2 * t);
    const goal = views[view];
    places = flight.from.map((p, i) => p.map((x, k) => x + ease * (goal[i][k] - x)));
    if (t === 1) flight = null;
  };

  const step = (now) => {
    frame = 0;
    if (turning && last) yaw += 0.00022 * Math.min(now - last, 50);
    if (flight) fly(now);
    last = now;
    draw();
    if ((turning && visible) || flight) ask();
    else last = 0;
  };
  const ask = () => {
    frame ||= requestAnimationFrame(step);
  };

  const setTurning = (on) => {
    turning = on;
    turnButton.textContent = on ? "Stop turning" : "Turn slowly";
    turnButton.setAttribute("aria-pressed", String(on));
    ask();
  };
  const readTheme = () => {
    const style = getComputedStyle(document.documentElement);
    ["ink", "rule", "text", "c0", "c1", "c2"].forEach((name) => {
      theme[name] = style.getPropertyValue(`--${name}`).trim();
    });
    ask();
  };
  const say = () => {
    const wrong = data.labels[colour].filter((g, i) => g !== data.labels.group[i]).length;
    status.textContent = wrongWords[colour](wrong);
  };
  const turnBy = (across, up) => {
    yaw += across;
    pitch = Math.max(-1.4, Math.min(1.4, pitch + up));
    if (turning) setTurning(false);
    ask();
  };

  let grip = null;
  canvas.addEventListener("pointerdown", (event) => {
    grip = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!grip) return;
    turnBy(-(event.clientX - grip[0]) / 140, (event.clientY - grip[1]) / 140);
    grip = [event.clientX, event.clientY];
  });
  ["pointerup", "pointercancel"].forEach((name) => {
    canvas.addEventListener(name, () => { grip = null; });
  });
  const KEYS = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, 0.12], ArrowDown: [0, -0.12] };
  canvas.addEventListener("keydown", (event) => {
    const move = KEYS[event.key];
    if (!move) return;
    event.preventDefault();
    turnBy(...move);
  });

  document.querySelectorAll("input[name='toy-view']").forEach((input) => {
    input.addEventListener("change", () => {
      view = input.value;
      flight = { from: places.map((p) => [...p]), since: still.matches ? -Infinity : performance.now() };
      ask();
    });
  });
  document.querySelectorAll("input[name='toy-colour']").forEach((input) => {
    input.addEventListener("change", () => {
      colour = input.value;
      say();
      ask();
    });
  });
  turnButton.addEventListener("click", () => setTurning(!turning));

  new MutationObserver(readTheme).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  new ResizeObserver(ask).observe(canvas);
  new IntersectionObserver(([entry]) => {
    visible = entry.isIntersecting;
    ask();
  }).observe(canvas);
  // A reload may keep what was chosen before it.
  document.querySelectorAll("input[name='toy-view'], input[name='toy-colour']").forEach((input) => {
    if (input.checked) input.dispatchEvent(new Event("change"));
  });
  readTheme();
  say();
  setTurning(turning);
})();
