// The two plots: accuracy against what a model costs, and learning curves.

import { element } from "../shared/elements.js";
import { comparable, errorScale, percent, readableSize, short } from "./numbers.js";
import { say } from "./strings.js";
import { accuracyAxis, drawn, fitted, lowerAxis, placeNames, plot, spread } from "./svg.js";

const HEIGHT = 340, NAMES = 128; // pixels: of a plot, and of the names beside curves
export const COSTS = { // by name: the cost of a model, the least that is told apart, and its text
  training: [(model) => model.train_cpu_seconds, 0.01, short],
  classifying: [(model) => 1000 / model.texts_per_second, 0.0001, (value) => String(Number(value.toPrecision(1)))],
  size: [(model) => model.size, 1000, readableSize],
};

/** The buttons that choose the cost. @param {HTMLElement} group @param {import("./main.js").Store} store */
export function costChoice(group, store) {
  const buttons = Object.keys(COSTS).map((name) => {
    const button = element("button", { type: "button", "data-cost": name }, say(name));
    button.addEventListener("click", () => store.set({ cost: name }));
    return button;
  });
  group.replaceChildren(...buttons);
  const show = () => buttons.forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.cost === store.state.cost)));
  store.listen(show);
  show();
}

/** @param {import("./main.js").Comparison} comparison @param {import("./main.js").Store} store */
export function costPlot({ models, test_texts: texts }, store, width) {
  const known = models.filter(({ accuracy }) => accuracy.value !== null);
  const [cost, least, text] = COSTS[store.state.cost];
  const title = say(`${store.state.cost}Axis`);
  const frame = plot({ width, height: HEIGHT, label: say("plotOf", known.length, title) });
  const ends = comparable(known).flatMap(({ accuracy: { value, low, high } }) => [value, low ?? value, high ?? value]);
  const up = errorScale(ends, 0.5 / Math.max(texts, 1));
  const log = (model) => Math.log10(Math.max(cost(model), least) || least);
  const costs = known.map(log).filter(Number.isFinite);
  const margin = 0.05 * (Math.max(...costs) - Math.min(...costs)) || 0.5;
  const [low, high] = [Math.min(...costs) - margin, Math.max(...costs) + margin];
  const along = (value) => (Math.min(value, high) - low) / (high - low);
  accuracyAxis(frame, up, say("accuracyAxis"));
  const powers = Array.from({ length: Math.floor(high) - Math.ceil(low) + 1 }, (_, i) => Math.ceil(low) + i);
  const ticks = powers.map((power) => ({ at: along(power), text: text(10 ** power) }));
  lowerAxis(frame, ticks, title);
  const points = ordered(known, store).map((model) =>
    ({ model, x: frame.x(along(log(model))), y: frame.y(up(model.accuracy.value)), text: nameOf(model, up) }));
  const names = placeNames(points, frame);
  points.map((point, i) => pointOf(point, names[i], up, frame, store)).reverse().forEach((one) => frame.svg.append(one));
  return frame.svg;
}

/** A model's name; with its accuracy where that is below the plot. */
function nameOf({ name, accuracy }, up) {
  return fitted(name, 150) + (up(accuracy.value) ? "" : ` ${percent(accuracy.value, 0)} %`);
}

function pointOf({ model, x, y, text }, name, up, frame, store) {
  const { low, high } = model.accuracy;
  const group = drawn("g", { class: model.name === store.state.chosen ? "point is-chosen" : "point" },
    drawn("title", {}, `${model.name}: ${percent(model.accuracy.value)} %`));
  if (low !== null) group.append(drawn("line", { class: "range", x1: x, x2: x, y1: frame.y(up(low)), y2: frame.y(up(high)) }));
  const shape = up(model.accuracy.value) ? drawn("circle", { cx: x, cy: y, r: 5 })
    : drawn("path", { d: `M${x - 5} ${y - 7}h10l-5 7z` });
  group.append(shape, drawn("circle", { class: "target", cx: x, cy: y, r: 14 }));
  if (name) group.append(drawn("text", { x: name.x, y: name.y, "text-anchor": name.anchor }, text));
  group.addEventListener("click", () => store.set({ chosen: model.name }));
  return group;
}

/** @param {import("./main.js").Comparison} comparison @param {import("./main.js").Store} store
 * @returns {SVGElement | null} null where no model has a curve */
export function curvePlot({ models, test_texts: texts }, store, width) {
  const known = ordered(models.filter(({ curve }) => curve.length > 1), store);
  if (!known.length) return null;
  const points = comparable(known).flatMap(({ curve }) => curve);
  const frame = plot({ width, height: HEIGHT, right: NAMES + 16, label: say("curvesOf", spoken(known)) });
  const up = errorScale(points.map(({ accuracy }) => accuracy), 0.5 / Math.max(texts, 1));
  const counts = [...new Set(known.flatMap(({ curve }) => curve.map((point) => point.texts)))].sort((a, b) => a - b);
  const [low, high] = [Math.log(counts[0]), Math.log(counts[counts.length - 1])];
  const along = (count) => high > low ? 0.02 + 0.98 * (Math.log(count) - low) / (high - low) : 0.5;
  accuracyAxis(frame, up, say("accuracyAxis"));
  lowerAxis(frame, counts.map((count) => ({ at: along(count), text: count.toLocaleString("en") })), say("curvesAxis"));
  const last = known.map(({ curve }) => frame.y(up(curve[curve.length - 1].accuracy)));
  const heights = spread(last, frame.top + 4, frame.bottom - 4, 15);
  known.map((model, i) => curveOf(model, heights[i], { frame, along, up }, store)).reverse()
    .forEach((one) => frame.svg.append(one));
  return frame.svg;
}

function curveOf(model, height, { frame, along, up }, store) {
  const places = model.curve.map(({ texts, accuracy }) => [frame.x(along(texts)), frame.y(up(accuracy))]);
  const line = places.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const group = drawn("g", { class: model.name === store.state.chosen ? "curve is-chosen" : "curve" },
    drawn("title", {}, model.name), drawn("path", { class: "target", d: line }), drawn("path", { d: line }),
    ...places.filter(([, y]) => y < frame.bottom).map(([x, y]) => drawn("circle", { cx: x, cy: y, r: 3 })));
  if (height !== null) {
    const [x, y] = places[places.length - 1];
    group.append(drawn("path", { class: "leader", d: `M${x + 5} ${y}L${frame.right + 12} ${height}` }),
      drawn("text", { x: frame.right + 16, y: height + 4 }, fitted(model.name, NAMES - 4)));
  }
  group.addEventListener("click", () => store.set({ chosen: model.name }));
  return group;
}

/** The curves in words. */
function spoken(models) {
  return models.map(({ name, curve }) => `${name}: ` +
    `${curve.map(({ texts, accuracy }) => say("curvePoint", texts, percent(accuracy, 1))).join(", ")}.`).join(" ");
}

/** The chosen model first: it is drawn above the others and has its name. */
function ordered(models, store) {
  const isOther = (model) => Number(model.name !== store.state.chosen);
  return [...models].sort((a, b) => isOther(a) - isOther(b));
}
