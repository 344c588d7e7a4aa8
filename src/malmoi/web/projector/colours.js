// Fields to colours. Numbers: viridis, without the end that drowns in the paper. Labels: Okabe
// and Ito's colours, told apart by the colour-blind; then the same eight fainter; then grey.

import { styled, theme } from "../shared/theme.js";

const VIRIDIS = ["#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779",
  "#6ece58", "#b5de2b", "#fde725"];
const RANGE = { light: [0.74, 0], dark: [0.22, 1] }; // much stands out, whichever the paper
const LABELS = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b5568f", "#b07c00", "#2f9fdc", "#5b4a9e", "#7a4b1e"],
  dark: ["#56b4e9", "#e69f00", "#2ec4a0", "#e08cbb", "#f0e442", "#7d9bf0", "#ff7f50", "#c9b8a8"],
};
const FAINTER = 0.45; // how much paper is in the second eight
const SKEWED = 50; // how often its median a maximum may be before logarithms are coloured

/** @typedef {[number, number, number]} Colour */

/** @param {string} hex @returns {Colour} */
export function rgb(hex) {
  const part = (at) => parseInt(hex.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
}

/** A colour with a share of another. @param {string} one @param {string} other @param {number} share */
function mixed(one, other, share) {
  const [a, b] = [rgb(one), rgb(other)];
  return `#${a.map((value, i) => Math.round(value + (b[i] - value) * share).toString(16).padStart(2, "0")).join("")}`;
}

/** The colour of a share of the scale, 0 … 1. @param {number} share @returns {Colour} */
export function scaleColour(share, mode = theme()) {
  const [from, to] = RANGE[mode];
  const at = (from + (to - from) * Math.max(0, Math.min(1, share))) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(at), VIRIDIS.length - 2);
  const [a, b] = [rgb(VIRIDIS[low]), rgb(VIRIDIS[low + 1])];
  const between = (i) => Math.round(a[i] + (b[i] - a[i]) * (at - low));
  return [between(0), between(1), between(2)];
}

/** The labels of a field, most points first, each with how many points and a colour.
 * @param {import("./space.js").Field} field */
export function labelColours({ labels, values }) {
  const counts = new Map(labels.map((label) => [label, 0]));
  for (const value of values) if (value >= 0) counts.set(labels[value], counts.get(labels[value]) + 1);
  const full = LABELS[theme()], rest = styled("rest");
  const palette = [...full, ...full.map((colour) => mixed(colour, styled("paper"), FAINTER))];
  return [...counts].filter(([, count]) => count).sort((a, b) => b[1] - a[1])
    .map(([label, count], i) =>
      ({ label, count, colour: palette[i] ?? rest, ink: i < palette.length ? full[i % full.length] : styled("soft") }));
}

/** How numbers become shares of the scale; logarithms of very uneven ones.
 * @param {Float32Array | Float64Array | Int32Array} values */
export function scaleOf(values) {
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
  if (!sorted.length) return { low: 0, high: 0, logarithmic: false, share: () => 0 };
  const [low, high] = [sorted[0], sorted[sorted.length - 1]];
  const median = sorted[sorted.length >> 1];
  const logarithmic = low >= 0 && median > 0 && high > SKEWED * median;
  const least = sorted.find((value) => value > 0) ?? 1;
  const turned = logarithmic ? (value) => Math.log(Math.max(value, least)) : (value) => value;
  const [from, span] = [turned(low), turned(high) - turned(low) || 1];
  return { low, high, logarithmic, share: (value) => (turned(value) - from) / span };
}

/** Four bytes for each point; hidden ones have no opacity.
 * @param {import("./space.js").Space} space @param {import("./store.js").State} state
 * @returns {Uint8Array} */
export function pointColours(space, state) {
  const bytes = new Uint8Array(4 * space.count);
  const field = space.fields.find(({ name }) => name === state.colourBy);
  const colourOf = field ? fieldColour(field) : plainColour();
  const solid = opacity(space.count), faint = Math.round(solid * 0.14);
  const circled = state.circled[space.index], lit = state.lit[space.index];
  const labelled = field?.kind === "label" ? field : null;
  for (let row = 0; row < space.count; row++) {
    const label = labelled?.labels[labelled.values[row]];
    if (label !== undefined && state.hidden.has(label)) continue;
    const [red, green, blue] = colourOf(row);
    bytes[4 * row] = red;
    bytes[4 * row + 1] = green;
    bytes[4 * row + 2] = blue;
    const apart = (circled && !circled[row]) || (lit && !lit.has(row)) || (labelled && state.alone && label !== state.alone);
    bytes[4 * row + 3] = apart ? faint : solid;
  }
  return bytes;
}

/** Many points are seen through each other. @param {number} count */
function opacity(count) {
  return Math.round(255 * Math.max(0.42, Math.min(0.92, 1.5 - 0.19 * Math.log10(count + 1))));
}

function plainColour() {
  const colour = rgb(styled("dot"));
  return () => colour;
}

/** @param {import("./space.js").Field} field @returns {(row: number) => Colour} */
function fieldColour(field) {
  const rest = rgb(styled("rest"));
  if (field.kind === "label") {
    const by = new Map(labelColours(field).map(({ label, colour }) => [label, rgb(colour)]));
    const colours = field.labels.map((label) => by.get(label));
    return (row) => colours[field.values[row]] ?? rest;
  }
  const { share } = scaleOf(field.values);
  const steps = Array.from({ length: 256 }, (_, i) => scaleColour(i / 255));
  return (row) => steps[Math.round(255 * share(field.values[row]))] ?? rest;
}
