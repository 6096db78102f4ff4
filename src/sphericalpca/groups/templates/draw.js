// Points on a canvas: by WebGL, or where there is none, by two-dimensional paths.
"use strict";

const EYE = 4;                                          // its distance, in radii of the sphere
const RIM = EYE / Math.sqrt(EYE * EYE - 1);             // where the eye sees the edge of the sphere
const BEHIND = 0.1;                                     // opacity of what is behind the sphere
const SHAPES = ["circle", "square", "triangle", "diamond"];
const shapeOf = (group) => Math.floor(group / facts.colours) % SHAPES.length;

// Of points that a filter leaves out (layer 0) and of others, from behind the sphere to its front.
const VERTEX = `
  attribute vec3 sphere;
  attribute vec2 plane;
  attribute vec4 paint;
  attribute float shape;
  uniform mat3 turn;
  uniform vec4 camera;   // flatness; zoom on the sphere; zoom and half of the canvas on the plane
  uniform vec2 pan, canvas;
  uniform float size, front;
  varying vec4 colour;
  varying float form, radius;
  void main() {
    vec3 s = turn * sphere;
    float near = ${EYE}.0 / (${EYE}.0 - s.z);
    vec2 p = mix(s.xy * near * camera.y, (plane - pan) * camera.z, camera.x);
    float shown = paint.a;
    float depth = max(smoothstep(-0.05, 0.3, s.z), camera.x);
    bool isFront = shown > 0.5 && depth > 0.0;
    bool here = isFront == (front > 0.5) && shape >= 0.0;
    gl_Position = here ? vec4(p * camera.w * 2.0 / canvas, 0.0, 1.0) : vec4(9.0, 9.0, 9.0, 1.0);
    radius = size * mix(mix(0.75, 1.0, depth) * near, 1.0, camera.x) * (shown > 0.5 ? 1.0 : 0.8);
    gl_PointSize = radius + 1.0;
    float alpha = shown > 0.5 ? mix(${BEHIND}, 0.88, depth) : 0.16 * mix(0.4, 1.0, depth);
    colour = vec4(paint.rgb * alpha, alpha);
    form = shape;
  }`;
const FRAGMENT = `
  precision mediump float;
  varying vec4 colour;
  varying float form, radius;
  void main() {
    vec2 p = (gl_PointCoord - 0.5) * (radius + 1.0);
    float r = radius * 0.5;
    float outside = length(p) - r;                                             // circle
    if (form > 2.5) outside = (abs(p.x) + abs(p.y) - r) * 0.75;                // diamond
    else if (form > 1.5) outside = max(p.y - r * 0.75, abs(p.x) * 0.87 - p.y * 0.5 - r * 0.5);
    else if (form > 0.5) outside = max(abs(p.x), abs(p.y)) - r * 0.85;         // square
    gl_FragColor = colour * clamp(0.5 - outside, 0.0, 1.0);
  }`;

const compile = (gl) => {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  gl.useProgram(program);
  return program;
};

// `paint` holds red, green, blue and whether the filter shows it, for each point.
const webglRenderer = (canvas, points) => {
  const gl = canvas.getContext("webgl", { alpha: true, antialias: false, depth: false });
  if (!gl) return null;
  const program = compile(gl);
  const interleave = (names) => {
    const flat = new Float32Array(points.n * names.length);
    names.forEach((name, k) => points[name].forEach((x, i) => { flat[i * names.length + k] = x; }));
    return flat;
  };
  const attribute = (name, width, type, content) => {
    const buffer = gl.createBuffer();
    const place = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, content, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, width, type, type === gl.UNSIGNED_BYTE, 0, 0);
    return buffer;
  };
  attribute("sphere", 3, gl.FLOAT, interleave(["x", "y", "z"]));
  attribute("plane", 2, gl.FLOAT, interleave(["u", "v"]));
  const shapes = Float32Array.from(points.group, (g) => (g === NO_GROUP ? -1 : shapeOf(g)));
  attribute("shape", 1, gl.FLOAT, shapes);
  const paints = attribute("paint", 4, gl.UNSIGNED_BYTE, new Uint8Array(4 * points.n));
  const uniform = (name) => gl.getUniformLocation(program, name);
  const [turn, camera, pan, extent, size, front] =
    ["turn", "camera", "pan", "canvas", "size", "front"].map(uniform);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  return {
    name: "WebGL",
    repaint: (paint) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, paints);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, paint);
    },
    draw: (view) => {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniformMatrix3fv(turn, false, view.matrix);
      gl.uniform4f(camera, view.flat, view.zoom, view.flatZoom, view.half);
      gl.uniform2f(pan, view.panX, view.panY);
      gl.uniform2f(extent, view.width, view.height);
      gl.uniform1f(size, view.size * view.ratio);
      for (const pass of [0, 1]) {
        gl.uniform1f(front, pass);
        gl.drawArrays(gl.POINTS, 0, points.n);
      }
    },
  };
};

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

// One path per group and layer; while something moves, at most so many points.
const MOST_MOVING = 20000;
const pathRenderer = (canvas, points) => {
  const pen = canvas.getContext("2d");
  const order = Uint32Array.from(points.group.keys()).sort((a, b) => points.group[a] - points.group[b]);
  let paint = new Uint8Array(4 * points.n);
  const drawLayer = (view, screen, layer, step) => {
    const radius = view.size / 2;
    const opacity = [0.12, BEHIND, 0.85][layer];
    let group = -1;
    for (let k = 0; k < points.n; k += step) {
      const i = order[k];
      if (points.group[i] === NO_GROUP) break;
      const of = paint[4 * i + 3] ? (screen.depth[i] > 0 ? 2 : 1) : 0;
      if (of !== layer) continue;
      if (points.group[i] !== group) {
        if (group >= 0) pen.fill();
        group = points.group[i];
        pen.beginPath();
        pen.fillStyle = `rgb(${paint[4 * i]} ${paint[4 * i + 1]} ${paint[4 * i + 2]} / ${opacity})`;
      }
      if (radius < 2) pen.rect(screen.x[i] - radius, screen.y[i] - radius, 2 * radius, 2 * radius);
      else outline(pen, shapeOf(group), screen.x[i], screen.y[i], radius);
    }
    if (group >= 0) pen.fill();
  };
  return {
    name: "canvas",
    repaint: (fresh) => { paint = fresh; },
    draw: (view, project) => {
      pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
      pen.clearRect(0, 0, view.width, view.height);
      const step = view.moving ? Math.ceil(points.n / MOST_MOVING) : 1;
      const screen = project();
      for (const layer of [0, 1, 2]) drawLayer(view, screen, layer, step);
    },
  };
};

const makeRenderer = (canvas, points) => {
  try {
    return webglRenderer(canvas, points) ?? pathRenderer(canvas, points);
  } catch {
    // A canvas keeps its first kind of context, so paths need another one.
    const fresh = canvas.cloneNode();
    canvas.replaceWith(fresh);
    return pathRenderer(fresh, points);
  }
};
