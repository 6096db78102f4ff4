// Drag, wheel, pinch and keys.
"use strict";

const ZOOMS = [1, 40];

const listen = (stage, map, { hover, choose, stopTurning }) => {
  const { view } = map;
  const pointers = new Map();
  let travelled = 0;
  let scrolled = -Infinity;      // when the page last moved under the pointer

  const at = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const drag = (dx, dy) => {
    if (view.chart) {
      const pixels = view.half * view.fit * view.flatZoom;
      map.change({ panX: view.panX - dx / pixels, panY: view.panY + dy / pixels });
    } else {
      const pixels = view.half * view.zoom;
      map.change({ yaw: view.yaw - dx / pixels, pitch: between(-1.5, view.pitch + dy / pixels, 1.5) });
    }
  };
  // On the plane, the point under the pointer stays there.
  const zoomBy = (factor, x = view.width / 2, y = view.height / 2) => {
    if (view.chart) {
      const flatZoom = between(ZOOMS[0], view.flatZoom * factor, ZOOMS[1]);
      const shift = (1 / view.flatZoom - 1 / flatZoom) / (view.half * view.fit);
      map.change({
        flatZoom,
        panX: view.panX + (x - view.width / 2) * shift,
        panY: view.panY - (y - view.height / 2) * shift,
      });
    } else {
      map.change({ zoom: between(ZOOMS[0], view.zoom * factor, ZOOMS[1]) });
    }
    // With one finger, a page scrolls; a map that is zoomed moves.
    stage.style.touchAction = zoomNow() > 1.01 ? "none" : "pan-y";
  };
  const zoomNow = () => (view.chart ? view.flatZoom : view.zoom);

  stage.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, at(event));
    stage.setPointerCapture(event.pointerId);
    if (pointers.size === 1) travelled = 0;
  });
  stage.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") hover(x, y);
      return;
    }
    const [dx, dy] = [x - before[0], y - before[1]];
    travelled += Math.hypot(dx, dy);
    if (travelled < 4) return;
    stopTurning();
    hover(-1, -1);
    if (pointers.size === 2) {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const spread = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]);
      zoomBy(spread([x, y]) / (spread(before) || 1), (x + other[0]) / 2, (y + other[1]) / 2);
      drag(dx / 2, dy / 2);
    } else {
      drag(dx, dy);
    }
    pointers.set(event.pointerId, [x, y]);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    stage.addEventListener(name, (event) => {
      const tapped = name === "pointerup" && pointers.has(event.pointerId) && pointers.size === 1 && travelled < 4;
      pointers.delete(event.pointerId);
      if (tapped) choose(...at(event));
      map.ask();
    });
  }
  stage.addEventListener("pointerenter", () => map.change({ paused: true }));
  stage.addEventListener("pointerleave", () => {
    hover(-1, -1);
    map.change({ paused: false });
  });

  addEventListener("scroll", () => { scrolled = performance.now(); }, { passive: true });
  // Scrolling that began elsewhere continues; so does scrolling with nothing left to zoom.
  stage.addEventListener("wheel", (event) => {
    const passing = performance.now() - scrolled < 250 && !event.ctrlKey;
    if (passing || (event.deltaY > 0 && zoomNow() <= ZOOMS[0])) return;
    event.preventDefault();
    stopTurning();
    hover(-1, -1);
    const pixels = event.deltaY * (event.deltaMode ? 16 : 1);
    zoomBy(Math.exp(-between(-120, pixels, 120) * (event.ctrlKey ? 0.01 : 0.0022)), ...at(event));
  }, { passive: false });

  const KEYS = {
    ArrowLeft: () => drag(40, 0), ArrowRight: () => drag(-40, 0), ArrowUp: () => drag(0, 40), ArrowDown: () => drag(0, -40),
    "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: () => map.reset(),
  };
  stage.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    stopTurning();
    KEYS[event.key]();
  });
  return { zoomBy };
};
