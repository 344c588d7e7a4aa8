// Places to pixels, and pixels to points: all points are looked through, which takes a
// millisecond or two for 400,000 of them. Points that are hidden or behind the eye are at NaN.

const EYE = 0.02; // nothing nearer than that share of the distance is drawn

/** @typedef {{x: Float32Array, y: Float32Array, depth: Float32Array}} Screen */

/** @param {number} count @returns {Screen} */
export function makeScreen(count) {
  return { x: new Float32Array(count), y: new Float32Array(count), depth: new Float32Array(count) };
}

/** Where each point is drawn.
 * @param {Screen} screen @param {import("./space.js").Places} places
 * @param {import("./camera.js").Camera} camera @param {Uint8Array} shown one byte a point */
export function project(screen, { values, axes }, camera, shown) {
  const { x, y, depth } = screen;
  const [[a, b, c], [d, e, f], [g, h, i]] = camera.rotation;
  const [tx, ty, tz] = camera.target;
  const { focal, distance } = camera;
  const [cx, cy, nearest] = [camera.width / 2, camera.height / 2, distance * EYE];
  for (let row = 0, at = 0; row < x.length; row++, at += axes) {
    const px = values[at] - tx, py = values[at + 1] - ty;
    const pz = axes === 3 ? values[at + 2] - tz : -tz;
    const away = distance - (g * px + h * py + i * pz);
    if (!shown[row] || away < nearest) {
      x[row] = y[row] = depth[row] = NaN;
      continue;
    }
    const scale = focal / away;
    x[row] = cx + scale * (a * px + b * py + c * pz);
    y[row] = cy - scale * (d * px + e * py + f * pz);
    depth[row] = away;
  }
}

/** The point nearest to a pixel, within a radius; -1 if there is none.
 * @param {Screen} screen @param {number} px @param {number} py @param {number} radius */
export function pick({ x, y }, px, py, radius) {
  let best = -1, least = radius * radius;
  for (let row = 0; row < x.length; row++) {
    const dx = x[row] - px;
    if (dx > radius || dx < -radius) continue;
    const dy = y[row] - py;
    const away = dx * dx + dy * dy;
    if (away < least) [best, least] = [row, away];
  }
  return best;
}

/** The points inside a closed path of pixels, by the even-odd rule.
 * @param {Screen} screen @param {number[][]} path @returns {number[]} */
export function inside({ x, y }, path) {
  const px = Float64Array.from(path, ([at]) => at), py = Float64Array.from(path, ([, at]) => at);
  const [left, right] = [Math.min(...px), Math.max(...px)], [top, bottom] = [Math.min(...py), Math.max(...py)];
  const rows = [];
  for (let row = 0; row < x.length; row++) {
    if (x[row] < left || x[row] > right || !(y[row] >= top && y[row] <= bottom)) continue;
    if (crossings(x[row], y[row], px, py) % 2) rows.push(row);
  }
  return rows;
}

/** How many edges of a path a ray to the right crosses. */
function crossings(x, y, px, py) {
  let count = 0;
  for (let i = 0, j = px.length - 1; i < px.length; j = i++) {
    if (py[i] > y === py[j] > y) continue;
    if (x < ((px[j] - px[i]) * (y - py[i])) / (py[j] - py[i]) + px[i]) count++;
  }
  return count;
}
