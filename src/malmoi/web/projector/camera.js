// Where one looks from: a place to look at, a distance and two angles. Without angles the
// picture is flat, so that plane and solid share one camera. Knows nothing of drawing.

const FIT = 0.92; // of the picture is filled by what should fit
const FRAMED = 0.6; // of the picture is filled by a box that is looked at
const NEAREST = 1 / 400;
const FARTHEST = 8;
const STEEPEST = Math.PI / 2 - 0.01;

export class Camera {
  constructor() {
    this.width = this.height = 1;
    this.reach = [1, 1]; // how far to the right and up there is something to see
    this.fit();
  }

  /** Everything in view, from the front. */
  fit() {
    this.target = [0, 0, 0];
    this.distance = 1;
    this.yaw = this.pitch = 0;
  }

  /** Turned a little, so that depth is seen. */
  fitSolid() {
    this.fit();
    this.distance = 1.5;
    this.yaw = -0.5;
    this.pitch = 0.35;
  }

  /** Pixels of a length 1 at distance 1. */
  get focal() {
    const [right, up] = this.reach;
    return Math.min(this.width / right, this.height / up) * (FIT / 2);
  }

  /** Pixels of a length 1 at what is looked at. */
  get scale() {
    return this.focal / this.distance;
  }

  /** Rows: right, up, towards the eye. @returns {number[][]} */
  get rotation() {
    const [cy, sy] = [Math.cos(this.yaw), Math.sin(this.yaw)];
    const [cp, sp] = [Math.cos(this.pitch), Math.sin(this.pitch)];
    return [[cy, 0, sy], [sp * sy, cp, -sp * cy], [-cp * sy, sp, cp * cy]];
  }

  /** Move with the pointer, by pixels. */
  pan(dx, dy) {
    const [right, up] = this.rotation;
    for (let axis = 0; axis < 3; axis++) {
      this.target[axis] += (-dx * right[axis] + dy * up[axis]) / this.scale;
    }
  }

  /** Turn with the pointer, by pixels. */
  orbit(dx, dy) {
    this.yaw += dx / 180;
    this.pitch = Math.max(-STEEPEST, Math.min(STEEPEST, this.pitch + dy / 180));
  }

  /** Closer by a factor; what lies under (x, y) stays there. */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = this.scale;
    this.distance = Math.max(NEAREST, Math.min(FARTHEST, this.distance / factor));
    const moved = this.scale / before - 1;
    this.pan(-(x - this.width / 2) * moved, -(y - this.height / 2) * moved);
  }

  /** Look at a place, no farther than `distance`. @param {number[]} place */
  lookAt([x, y, z = 0], distance = this.distance) {
    this.target = [x, y, z];
    this.distance = Math.min(this.distance, distance);
  }

  /** Look at a box of the plane, from no nearer than a third of the distance that shows everything.
   * @param {number[]} low @param {number[]} high */
  frame(low, high) {
    this.fit();
    this.target = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, 0];
    const needed = [this.width, this.height].map((size, axis) =>
      ((high[axis] - low[axis]) * this.focal) / (size * FRAMED));
    this.distance = Math.max(1 / 3, Math.min(1, Math.max(...needed)));
    if (this.distance === 1) this.target = [0, 0, 0];
  }

  /** What decides where points are drawn, to compare with. */
  get pose() {
    return [...this.target, this.distance, this.yaw, this.pitch, this.width, this.height,
      this.focal].join();
  }
}
