// Labels whose points lie together, as the senses of a word do, are named where they lie.

import { labelColours } from "./colours.js";

const MOST = 40; // labels; more would be a crowd
const TOGETHER = 0.6; // of the spread of all points, to count as an island
const FEWEST = 3; // points
const SAMPLE = 2000; // points looked at

/** @typedef {{text: string, place: number[], ink: string}} Island */

/** @param {import("./space.js").Space} space @param {import("./store.js").State} state
 * @returns {Island[]} */
export function islandsOf(space, state) {
  const field = space.fields.find(({ name }) => name === state.colourBy);
  if (field?.kind !== "label" || field.labels.length > MOST) return [];
  const all = middle(Array.from(space.keys.keys()), space.plane.values);
  const rows = new Map(field.labels.map((label) => [label, []]));
  field.values.forEach((label, row) => rows.get(field.labels[label])?.push(row));
  return labelColours(field).flatMap(({ label, count, ink }) => {
    if (state.hidden.has(label) || count < FEWEST) return [];
    const { place, spread } = middle(rows.get(label), space.plane.values);
    return spread < TOGETHER * all.spread ? [{ text: label, place, ink }] : [];
  });
}

/** The middle of some points, and how far from it half of them lie. */
function middle(rows, values) {
  const stride = Math.ceil(rows.length / SAMPLE);
  const some = rows.filter((_, i) => i % stride === 0);
  const place = [0, 1].map((axis) => median(some.map((row) => values[2 * row + axis])));
  const away = some.map((row) => Math.hypot(values[2 * row] - place[0], values[2 * row + 1] - place[1]));
  return { place, spread: median(away) };
}

function median(values) {
  return Float32Array.from(values).sort()[values.length >> 1];
}
