// Behind and in front of the points: the globe, labels, rings.
"use strict";

const penFor = (canvas, view) => {
  const pen = canvas.getContext("2d");
  pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  return pen;
};

// A circle of the globe, without its part behind.
const paintCircle = (pen, view, at) => {
  const m = view.matrix;
  let drawing = false;
  for (let i = 0; i <= 96; i += 1) {
    const [x, y, z] = at((2 * Math.PI * i) / 96);
    const depth = m[2] * x + m[5] * y + m[8] * z;
    const scale = (view.half * view.zoom * EYE) / (EYE - depth);
    const across = view.width / 2 + scale * (m[0] * x + m[3] * y + m[6] * z);
    const down = view.height / 2 - scale * (m[1] * x + m[4] * y + m[7] * z);
    if (depth < 1 / EYE) drawing = false;
    else if (drawing) pen.lineTo(across, down);
    else {
      pen.moveTo(across, down);
      drawing = true;
    }
  }
};

const paintGlobe = (canvas, view, theme) => {
  const pen = penFor(canvas, view);
  if (view.flat >= 1) return;
  const [x, y, r] = [view.width / 2, view.height / 2, view.half * view.zoom * RIM];
  pen.globalAlpha = 1 - view.flat;
  const light = pen.createRadialGradient(x - 0.35 * r, y - 0.45 * r, 0.1 * r, x, y, r);
  light.addColorStop(0, theme.globeLight);
  light.addColorStop(1, theme.globeDark);
  pen.fillStyle = light;
  pen.beginPath();
  pen.arc(x, y, r, 0, 2 * Math.PI);
  pen.fill();
  pen.strokeStyle = theme.rule;
  pen.lineWidth = 1;
  pen.stroke();
  pen.globalAlpha = 0.55 * (1 - view.flat);
  pen.beginPath();
  for (let k = 0; k < 12; k += 1) {
    const [s, c] = [Math.sin((Math.PI * k) / 12), Math.cos((Math.PI * k) / 12)];
    if (k % 2 === 0) paintCircle(pen, view, (t) => [c * Math.cos(t), s * Math.cos(t), Math.sin(t)]);
  }
  for (let k = -2; k <= 2; k += 1) {
    const [s, c] = [Math.sin((Math.PI * k) / 6), Math.cos((Math.PI * k) / 6)];
    paintCircle(pen, view, (t) => [c * Math.cos(t), c * Math.sin(t), s]);
  }
  pen.stroke();
  pen.globalAlpha = 1;
};

// The shape of a group.
const outline = (pen, shape, x, y, r) => {
  if (shape === 0) {
    pen.moveTo(x + r, y);
    pen.arc(x, y, r, 0, 2 * Math.PI);
  } else if (shape === 1) {
    pen.rect(x - 0.85 * r, y - 0.85 * r, 1.7 * r, 1.7 * r);
  } else {
    const corners = shape === 2 ? [[0, -1], [1, 0.75], [-1, 0.75]] : [[0, -1], [1, 0], [0, 1], [-1, 0]];
    corners.forEach(([a, b], i) => (i ? pen.lineTo(x + r * a, y + r * b) : pen.moveTo(x + r * a, y + r * b)));
    pen.closePath();
  }
};

// A name at the middle of what is shown of each group, the largest first; none covers another.
const paintLabels = (canvas, view, theme, { place, shown, points, project }) => {
  const pen = penFor(canvas, view);
  if (view.labels) {
    const taken = [];
    pen.font = `600 ${view.width < 560 ? 11 : 12.5}px system-ui, sans-serif`;
    pen.textBaseline = "middle";
    const total = shown.middles.reduce((sum, { count }) => sum + count, 0);
    shown.middles
      .map((middle, group) => ({ ...middle, group }))
      .filter(({ count }) => count > 0.002 * total)
      .sort((a, b) => b.count - a.count)
      .forEach((middle) => paintLabel(pen, view, theme, middle, place, taken));
  }
  for (const [i, width] of [[shown.hover, 1.5], [shown.chosen, 3]]) {
    if (i < 0 || points.group[i] === NO_GROUP) continue;
    const at = project();
    pen.globalAlpha = at.depth[i] > 0 ? 1 : 0.35;
    pen.strokeStyle = theme.text;
    pen.lineWidth = width;
    pen.beginPath();
    pen.arc(at.x[i], at.y[i], view.size / 2 + 4, 0, 2 * Math.PI);
    pen.stroke();
  }
  pen.globalAlpha = 1;
};

// Two words, or one where two would cover another label.
const paintLabel = (pen, view, theme, { x, y, z, u, v, group }, place, taken) => {
  const [across, down, depth] = place(x, y, z, u, v);
  const alpha = between(0, (depth - 0.2) / 0.1, 1);
  const [top, height] = [down - 11, 22];
  if (!alpha || top < 2 || top + height > view.height - 2) return;
  for (const words of view.width < 560 ? [1] : [2, 1]) {
    const text = facts.words[group].slice(0, words).join(" · ") || titleOf(group);
    const width = pen.measureText(text).width + 26;
    const left = between(4, across - width / 2, view.width - width - 4);
    const covers = (box) =>
      left < box[0] + box[2] + 3 && box[0] < left + width + 3 && top < box[1] + height + 3 && box[1] < top + height + 3;
    if (taken.some(covers)) continue;
    taken.push([left, top, width]);
    paintPill(pen, theme, { text, left, top, width, height, alpha, group });
    return;
  }
};

const paintPill = (pen, theme, { text, left, top, width, height, alpha, group }) => {
  pen.globalAlpha = 0.86 * alpha;
  pen.fillStyle = theme.paper;
  pen.beginPath();
  pen.roundRect(left, top, width, height, height / 2);
  pen.fill();
  pen.globalAlpha = alpha;
  pen.strokeStyle = theme.line;
  pen.lineWidth = 1;
  pen.stroke();
  pen.fillStyle = theme.groups[group];
  pen.beginPath();
  outline(pen, shapeOf(group), left + 11, top + height / 2, 4.5);
  pen.fill();
  pen.fillStyle = theme.text;
  pen.fillText(text, left + 19, top + height / 2 + 0.5);
};
