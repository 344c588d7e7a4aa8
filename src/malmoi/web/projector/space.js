// One model's points: keys, places, and what is known of each; the large parts on demand.

import { beginning } from "./labels.js";
import { translated, translatedLabel } from "./notes.js";
import { readSection } from "./sections.js";

/**
 * @typedef {{name: string, kind: "number" | "label", labels: string[],
 *   values: Float32Array | Float64Array | Int32Array}} Field
 * @typedef {{values: Float32Array, axes: number, reach: number[], raw: (row: number, axis: number) => number}} Places
 * @typedef {{rows: Uint32Array, scores: Float64Array, k: number, digits: number}} Near
 */

const NARROWEST = 0.2; // of the longest axis, so that points in a line fit too
const OUTLYING = 0.002; // share of points at each end of an axis that need not fit at first

export class Space {
  /** @param {import("./sections.js").Source} source @param {number} index @param {any} described */
  constructor(source, index, described) {
    this.source = source;
    this.index = index;
    this.described = described;
    this.name = described.name;
    /** @type {number} */
    this.count = described.count;
    /** @type {string[]} */
    this.keys = [];
    /** @type {string[]} of vectors that are not drawn */
    this.others = [];
    /** @type {string[] | null} a text about each point */
    this.details = null;
    /** Whether points are labelled by how their texts begin. */
    this.texts = described.labelled_by === "text";
    /** @type {Field[]} */
    this.fields = [];
    this.reading = new Map();
  }

  /** Read what a first picture needs. */
  async open() {
    const has = (name) => name in this.described.sections;
    const [keys, plane, solid, details, others] = await Promise.all([
      this.read("keys"), this.read("coords_2d"), this.read("coords_3d"),
      has("details") ? this.read("details") : null, has("others") ? this.read("others") : [],
    ]);
    [this.keys, this.details, this.others] = [keys, details, others];
    /** Whether all points have one key, as the occurrences of a word do. */
    this.alike = Boolean(details) && keys.every((key) => key === keys[0]);
    this.place(plane, solid);
    this.fields = await Promise.all(this.described.fields.map(
      async (field, i) => ({ ...field, values: await this.read(`field-${i}`) })));
    return this;
  }

  place(plane, solid) {
    this.plane = placed(plane, this.described.sections.coords_2d);
    this.solid = placed(solid, this.described.sections.coords_3d);
  }

  /** Take the places of another picture of the same points. @param {any} described */
  async replace(described) {
    this.described = described;
    for (const name of ["coords_2d", "coords_3d"]) this.reading.delete(name);
    this.place(await this.read("coords_2d"), await this.read("coords_3d"));
  }

  /** A section, read once. @param {string} name */
  read(name) {
    if (!this.reading.has(name)) {
      const described = this.described.sections[name];
      this.reading.set(name, readSection(this.source, this.index, name, described));
    }
    return this.reading.get(name);
  }

  /** The key of a row: of a point, or of a vector that is not drawn. @param {number} row */
  key(row) {
    return row < this.count ? this.keys[row] : this.others[row - this.count];
  }

  /** What tells a point from others. @param {number} row */
  title(row) {
    return this.alike || this.texts ? this.details[row] : this.keys[row];
  }

  /** What is written beside a point. @param {number} row */
  label(row) {
    if (!this.texts) return this.keys[row];
    this.labels ??= new Array(this.count);
    return this.labels[row] ??= beginning(this.details[row]) || this.keys[row];
  }

  /** The first point of a key, composed or not, or -1. @param {string} key */
  find(key) {
    if (!this.rows) {
      this.rows = new Map();
      for (const form of [(each) => each.normalize("NFC"), (each) => each]) {
        for (let row = this.count - 1; row >= 0; row--) this.rows.set(form(this.keys[row]), row);
      }
    }
    return this.rows.get(key) ?? this.rows.get(key.normalize("NFC")) ?? -1;
  }

  /** The nearest points of one, best first, as they were found among the vectors themselves.
   * @param {number} row @param {string} metric
   * @returns {Promise<{key: string, row: number, score: number, digits: number}[]>} */
  async near(row, metric) {
    const { shape: [, k] } = this.described.sections[`${metric}-rows`];
    const { digits } = this.described.sections[`${metric}-scores`];
    const [rows, steps] = await Promise.all(
      [this.read(`${metric}-rows`), this.read(`${metric}-scores`)]);
    const found = [];
    for (let i = row * k, score = 0; i < (row + 1) * k; i++) {
      score += steps[i]; // they are differences
      found.push({ key: this.key(rows[i]), row: rows[i], score: score / 10 ** digits, digits });
    }
    return found;
  }

  /** The fields of a point, to be read. @param {number} row */
  facts(row) {
    return this.fields.map(({ name, kind, labels, values }) =>
      ({ name: translated(name), value: kind === "label" ? translatedLabel(name, labels[values[row]] ?? "—") :
        shortNumber(values[row]) }));
  }
}

/** A number as people read it. @param {number} value */
export function shortNumber(value) {
  if (!Number.isFinite(value)) return "—";
  const four = { useGrouping: /** @type {any} */ ("min2") }; // 2007 may be a year
  if (Number.isInteger(value)) return value.toLocaleString("en", four);
  return Number(value.toPrecision(4)).toLocaleString("en", { ...four, maximumSignificantDigits: 4 });
}

/** 16-bit steps to places around zero, most of them within -1 … 1.
 * @param {Uint16Array} steps @param {any} described @returns {Places} */
export function placed(steps, { shape: [count, axes], low, step }) {
  const ends = low.map((_, axis) => inner(steps, axes, axis).map((at) => low[axis] + at * step[axis]));
  const middle = ends.map(([from, to]) => (from + to) / 2);
  const halves = ends.map(([from, to]) => (to - from) / 2);
  const half = Math.max(...halves) || 1;
  const values = new Float32Array(count * axes);
  for (let i = 0, axis = 0; i < values.length; i++, axis = (axis + 1) % axes) {
    values[i] = (low[axis] + steps[i] * step[axis] - middle[axis]) / half;
  }
  const reach = halves.map((one) => Math.max(one / half, NARROWEST));
  return { values, axes, reach, raw: (row, axis) => low[axis] + steps[row * axes + axis] * step[axis] };
}

/** Where an axis begins and ends, outlying points apart. */
function inner(steps, axes, axis) {
  const counts = new Uint32Array(65536);
  for (let i = axis; i < steps.length; i += axes) counts[steps[i]]++;
  const spare = Math.floor((steps.length / axes) * OUTLYING);
  let from = 0, to = 65535;
  for (let seen = counts[from]; seen <= spare; seen += counts[++from]);
  for (let seen = counts[to]; seen <= spare; seen += counts[--to]);
  return [from, to];
}
