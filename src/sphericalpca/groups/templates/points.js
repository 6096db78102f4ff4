// The points of the page, as typed arrays, from the data elements at its end.
"use strict";

const byId = (id) => document.getElementById(id);
const facts = JSON.parse(byId("data-facts").textContent);
const NO_GROUP = 65535;

const unpack = (id) => {
  const letters = atob(byId(id).textContent.trim());
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
};

// One string per point, joined by line breaks, which texts do not contain.
const readLines = async (id) => {
  const lines = new TextDecoder().decode(await unpack(id)).split("\n");
  return facts.count ? lines : [];
};

// Columns of 16-bit integers, one after the other: x, y, z; u, v; cosine; margin; group.
const readPoints = async () => {
  const buffer = await unpack("data-points");
  const n = facts.count;
  const [onSphere, onPlane, cosines] = facts.scales;
  const column = (k, scale) =>
    Float32Array.from(new Int16Array(buffer, 2 * n * k, n), (value) => value / scale);
  const [x, y, z] = [0, 1, 2].map((k) => column(k, onSphere));
  const [u, v] = [3, 4].map((k) => column(k, onPlane));
  const [cosine, margin] = [5, 6].map((k) => column(k, cosines));
  const group = new Uint16Array(buffer, 14 * n, n);
  return { n, x, y, z, u, v, cosine, margin, group };
};

// The middle of what a filter shows of each group: a direction on the sphere, a place on the plane,
// how many points.
const middlesOf = (points, shows = () => true) => {
  const middles = facts.labels.map(() => ({ x: 0, y: 0, z: 0, u: 0, v: 0, count: 0 }));
  for (let i = 0; i < points.n; i += 1) {
    const middle = middles[points.group[i]];
    if (!middle || !shows(i)) continue;
    for (const axis of ["x", "y", "z", "u", "v"]) middle[axis] += points[axis][i];
    middle.count += 1;
  }
  for (const middle of middles) {
    const length = Math.hypot(middle.x, middle.y, middle.z) || 1;
    for (const axis of ["x", "y", "z"]) middle[axis] /= length;
    middle.u /= middle.count || 1;
    middle.v /= middle.count || 1;
  }
  return middles;
};

const titleOf = (group) => `Group ${facts.labels[group]}`;
const nameOf = (group) => facts.words[group].join(", ");

// The points whose text or id contains every word of a query.
const search = (query, lower) => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return (i) => words.every((word) => lower[i].includes(word));
};
