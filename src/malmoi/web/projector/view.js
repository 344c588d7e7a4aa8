// One space in one picture: its canvases, its camera, and what pointers and keys do to it.

import { Camera } from "./camera.js";
import { pointColours } from "./colours.js";
import { element } from "../shared/elements.js";
import { listen } from "./gestures.js";
import { islandsOf } from "./islands.js";
import { drawOverlay } from "./overlay.js";
import { canvasPainter } from "./points_canvas.js";
import { webglPainter } from "./points_webgl.js";
import { inside, makeScreen, pick, project } from "./screen.js";
import { say } from "./strings.js";
import { calm } from "../shared/theme.js";

/**
 * @typedef {{name: string, moved: () => void, colour: (bytes: Uint8Array) => void,
 *   paint: (camera: Camera, how: {morph: number, size: number, ratio: number,
 *     screen: import("./screen.js").Screen}) => void}} Painter
 * @typedef {{choose: (space: number, row: number) => void,
 *   ask: (key: string) => void, hover: (space: number, row: number) => void,
 *   circle: (space: number, rows: number[]) => void}} Actions
 */

const REACH = 14; // pixels from a point at which it is still hovered
const GLIDE = 350; // milliseconds
const MARGIN = 0.12; // of a picture, where a point is nearly out of view

export class View {
  /** @param {import("./space.js").Space} space @param {import("./store.js").Store} store
   * @param {Actions} actions */
  constructor(space, store, actions) {
    this.space = space;
    this.store = store;
    this.actions = actions;
    this.camera = new Camera();
    this.camera.reach = space.plane.reach;
    this.screen = makeScreen(space.count);
    this.shown = new Uint8Array(space.count).fill(1);
    this.path = [];
    this.islands = [];
    this.tip = element("div", { class: "tip", role: "presentation", hidden: "" });
    this.points = element("canvas", { "aria-hidden": "true" });
    this.over = element("canvas", {
      class: "over", tabindex: "0", role: "application",
      "aria-label": say("pictureOf", space.name, space.count),
    });
    this.element = element("div", { class: "view" }, this.points, this.over, this.tip);
    this.painter = webglPainter(this.points, space) ?? this.withoutWebgl();
    this.points.dataset.painter = this.painter.name;
    this.points.addEventListener("repaint", () => this.repaint());
    new ResizeObserver(() => this.resize()).observe(this.element);
    listen(this.over, this.meanings());
    addEventListener("themechange", () => this.recolour());
    this.recolour();
  }

  withoutWebgl() {
    const fresh = element("canvas", { "aria-hidden": "true" }); // the other has been asked for WebGL
    this.points.replaceWith(fresh);
    this.points = fresh;
    return canvasPainter(fresh, this.space);
  }

  get places() {
    return this.store.state.solid ? this.space.solid : this.space.plane;
  }

  /** What is marked in this space. */
  get marks() {
    const { chosen, hovered, nearby, circled, lit } = this.store.state;
    const i = this.space.index;
    return { chosen: chosen[i], hovered: hovered[i], nearby: nearby[i], circled: circled[i], lit: lit[i] };
  }

  /** How large points are drawn, in pixels: as much as there is room for. */
  get size() {
    const { width, height, distance } = this.camera;
    const room = Math.sqrt((width * height) / this.space.count);
    const fitted = Math.max(2, Math.min(7, room * 0.42));
    return Math.min(13, fitted * Math.max(0.8, distance ** -0.4));
  }

  /** @returns {import("./gestures.js").Meanings} */
  meanings() {
    const { space: { index }, actions, camera } = this;
    const near = (x, y, reach = REACH) => pick(this.projected(), x, y, reach);
    const seen = (act) => (...given) => { this.still(); act(...given); this.repaint(); };
    return {
      move: seen((dx, dy, other) =>
        this.store.state.solid !== other ? camera.orbit(dx, dy) : camera.pan(dx, dy)),
      zoom: seen((factor, x, y) => camera.zoom(factor, x, y)),
      hover: (x, y) => actions.hover(index, near(x, y)),
      leave: () => actions.hover(index, -1),
      click: (x, y) => actions.choose(index, near(x, y)),
      middle: () => actions.choose(index, near(camera.width / 2, camera.height / 2, Infinity)),
      circling: () => this.store.state.circling,
      circle: (path, done) => {
        this.path = done ? [] : path;
        if (done && path.length > 2) actions.circle(index, inside(this.projected(), path));
        this.repaint();
      },
    };
  }

  /** Where points are on the screen now. */
  projected() {
    const pose = `${this.camera.pose},${this.store.state.solid},${this.version}`;
    if (pose !== this.pose) {
      project(this.screen, this.places, this.camera, this.shown);
      this.pose = pose;
    }
    return this.screen;
  }

  /** The rows in view. */
  visible() {
    const { width, height } = this.camera;
    return inside(this.projected(), [[0, 0], [width, 0], [width, height], [0, height]]);
  }

  resize() {
    const { width, height } = this.element.getBoundingClientRect();
    this.ratio = Math.min(devicePixelRatio || 1, 3);
    Object.assign(this.camera, { width: Math.max(1, width), height: Math.max(1, height) });
    for (const canvas of [this.points, this.over]) {
      canvas.width = Math.max(1, Math.round(width * this.ratio));
      canvas.height = Math.max(1, Math.round(height * this.ratio));
    }
    this.paint(); // at once: an emptied canvas would flicker
  }

  recolour() {
    const colours = pointColours(this.space, this.store.state);
    for (let row = 0; row < this.space.count; row++) this.shown[row] = colours[4 * row + 3] ? 1 : 0;
    this.version = (this.version ?? 0) + 1;
    this.islands = islandsOf(this.space, this.store.state);
    this.painter.colour(colours);
    this.repaint();
  }

  repaint() {
    this.waiting ??= requestAnimationFrame(() => this.paint());
  }

  paint() {
    cancelAnimationFrame(this.waiting);
    this.waiting = undefined;
    const { camera, size, ratio = 1 } = this;
    const screen = this.projected();
    this.painter.paint(camera, { morph: this.store.state.solid ? 1 : 0, size, ratio, screen });
    const context = this.over.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawOverlay(context, this);
    this.placeTip();
    this.points.dataset.points = String(this.space.count);
  }

  /** The line about the point under the pointer. */
  placeTip() {
    const { hovered } = this.marks;
    const line = hovered >= 0 ? this.space.details?.[hovered] : null;
    this.tip.hidden = !line || !Number.isFinite(this.screen.x[hovered]);
    if (this.tip.hidden) return;
    this.tip.replaceChildren(element("span", { dir: "auto" }, line));
    const left = Math.max(8, Math.min(this.screen.x[hovered], this.camera.width - 328));
    const below = this.screen.y[hovered] < this.camera.height - 120;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = below ? `${this.screen.y[hovered] + 16}px` : "";
    this.tip.style.bottom = below ? "" : `${this.camera.height - this.screen.y[hovered] + 16}px`;
  }

  /** The points of the space have other places. */
  replaced() {
    this.painter.moved();
    this.recolour();
    this.fit();
  }

  /** Some points in view, with much of what is around them. @param {number[]} rows */
  showRows(rows) {
    if (this.store.state.solid || !rows.length) return this.fit();
    const { values } = this.space.plane;
    const ends = [Math.min, Math.max].map((end) =>
      [0, 1].map((axis) => end(...rows.map((row) => values[2 * row + axis]))));
    this.still();
    this.camera.reach = this.space.plane.reach;
    this.camera.frame(ends[0], ends[1]);
    this.repaint();
  }

  /** Everything in view. */
  fit() {
    this.still();
    const { solid } = this.store.state;
    this.camera.reach = solid ? [1, 1] : this.space.plane.reach;
    if (solid) this.camera.fitSolid();
    else this.camera.fit();
    this.repaint();
  }

  /** Go to a point that is not well in view. @param {number} row */
  glideTo(row) {
    const { width, height } = this.camera, { x, y } = this.projected();
    const well = (at, size) => at > size * MARGIN && at < size * (1 - MARGIN);
    if (well(x[row], width) && well(y[row], height)) return this.repaint();
    const { values, axes } = this.places;
    const to = Array.from({ length: 3 }, (_, axis) => (axis < axes ? values[row * axes + axis] : 0));
    const from = [...this.camera.target], start = performance.now();
    const step = () => {
      const part = calm() ? 1 : Math.min(1, (performance.now() - start) / GLIDE);
      const eased = 1 - (1 - part) ** 3;
      this.camera.lookAt(from.map((value, axis) => value + (to[axis] - value) * eased));
      this.gliding = part < 1 ? requestAnimationFrame(step) : undefined;
      this.repaint();
    };
    this.still();
    step();
  }

  /** Stop going anywhere. */
  still() {
    cancelAnimationFrame(this.gliding);
  }
}
