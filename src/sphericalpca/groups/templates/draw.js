// Points on a canvas: by WebGL, or without it pixel by pixel.
"use strict";

const EYE = 4;                                          // its distance, in radii of the sphere
const RIM = EYE / Math.sqrt(EYE * EYE - 1);             // where the eye sees the edge of the sphere
const BEHIND = 0.1;                                     // opacity of what is behind the sphere
const SHAPES = ["circle", "square", "triangle", "diamond"];
const shapeOf = (group) => Math.floor(group / facts.colours) % SHAPES.length;

// For filtered points (layer 0) and others, from behind the sphere to its front.
const VERTEX = `
  attribute vec3 sphere;
  attribute vec2 plane;
  attribute vec4 paint;
  attribute float shape;
  uniform mat3 turn;
  uniform vec4 camera;   // flatness; zoom on the sphere; zoom and half of the canvas on the plane
  uniform vec2 pan, canvas;
  uniform vec2 size;     // of points that the filter shows, of others
  uniform float front;
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
    radius = (shown > 0.5 ? size.x : size.y) * mix(mix(0.75, 1.0, depth) * near, 1.0, camera.x);
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
  const gl = canvas.getContext("webgl", { antialias: false, depth: false, failIfMajorPerformanceCaveat: true });
  if (!gl) return null;
  const name = gl.getParameter(gl.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER);
  if (/swiftshader|llvmpipe|software|basic render/i.test(name)) throw new Error("emulated WebGL: pixels are faster");
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
      gl.uniform4f(camera, view.flat, view.zoom, view.fit * view.flatZoom, view.half);
      gl.uniform2f(pan, view.panX, view.panY);
      gl.uniform2f(extent, view.width, view.height);
      gl.uniform2f(size, view.size * view.ratio, view.dimmed * view.ratio);
      for (const pass of [0, 1]) {
        gl.uniform1f(front, pass);
        gl.drawArrays(gl.POINTS, 0, points.n);
      }
    },
  };
};

// Half the width of a shape, at a height from -1 (top) to 1, in radii.
const WIDTHS = [
  (t) => Math.sqrt(Math.max(0, 1 - t * t)),
  (t) => (Math.abs(t) <= 0.85 ? 0.85 : 0),
  (t) => (t <= 0.75 ? (t + 1) / 1.75 : 0),
  (t) => 1 - Math.abs(t),
];
// Where a shape has pixels, counted from its middle.
const pixelsOf = (shape, size, width) => {
  const radius = size + 0.35;   // pixels that are mostly covered
  const reach = Math.ceil(radius);
  const found = [];
  for (let dy = -reach; dy <= reach; dy += 1) {
    const half = Math.abs(dy) < radius ? radius * WIDTHS[shape](dy / radius) : 0;
    for (let dx = Math.ceil(-half); dx < half; dx += 1) found.push(dy * width + dx);
  }
  return Int32Array.from(found);
};

// Pixel by pixel: filtered points first, then those behind the sphere, then its front.
const pixelRenderer = (canvas, points) => {
  const pen = canvas.getContext("2d");
  const shapes = facts.labels.map((_, group) => shapeOf(group));
  let paint = new Uint8Array(4 * points.n);
  let image = null;
  const drawLayer = (pixels, view, screen, layer) => {
    const { width, height } = image;
    const radius = (view.ratio * (layer ? view.size : view.dimmed)) / 2;
    const forms = SHAPES.map((_, shape) => pixelsOf(shape, radius, width));
    const opacity = Math.round(255 * [0.14, BEHIND, 0.9][layer]) << 24;
    const edge = Math.ceil(radius + 1);
    for (let i = 0; i < points.n; i += 1) {
      const of = paint[4 * i + 3] === 0 ? 0 : screen.depth[i] > 0 ? 2 : 1;
      if (of !== layer || points.group[i] === NO_GROUP) continue;
      const [x, y] = [(screen.x[i] * view.ratio + 0.5) | 0, (screen.y[i] * view.ratio + 0.5) | 0];
      if (x < edge || y < edge || x >= width - edge || y >= height - edge) continue;
      const colour = opacity | (paint[4 * i + 2] << 16) | (paint[4 * i + 1] << 8) | paint[4 * i];
      const form = forms[shapes[points.group[i]]];
      const middle = y * width + x;
      for (let k = 0; k < form.length; k += 1) pixels[middle + form[k]] = colour;
    }
  };
  return {
    name: "canvas",
    repaint: (fresh) => { paint = fresh; },
    draw: (view, project) => {
      if (image?.width !== canvas.width || image?.height !== canvas.height) {
        image = pen.createImageData(canvas.width, canvas.height);
      }
      const pixels = new Uint32Array(image.data.buffer).fill(0);
      const screen = project();
      for (const layer of [0, 1, 2]) drawLayer(pixels, view, screen, layer);
      pen.putImageData(image, 0, 0);
    },
  };
};

const makeRenderer = (canvas, points) => {
  try {
    return webglRenderer(canvas, points) ?? pixelRenderer(canvas, points);
  } catch {
    // A canvas keeps its first kind of context, so pixels need another one.
    const fresh = canvas.cloneNode();
    canvas.replaceWith(fresh);
    return pixelRenderer(fresh, points);
  }
};
