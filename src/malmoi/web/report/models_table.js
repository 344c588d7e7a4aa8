// The table of models: sorted by any column, by click or by key; a row chooses its model.

import { announce, element } from "../shared/elements.js";
import { translated } from "./notes.js";
import { comparable, errorScale, percent, readableSize, short, signed } from "./numbers.js";
import { say } from "./strings.js";
import { drawn } from "./svg.js";

const BAR = 120; // pixels
const COLUMNS = { // by name: what is sorted by, and whether more is better
  model: [(model) => model.name, false],
  accuracy: [(model) => model.accuracy.value ?? -1, true],
  macroF1: [(model) => model.macro_f1, true],
  againstBest: [(model) => model.difference?.value ?? 0, true],
  training: [(model) => model.train_cpu_seconds, false],
  speed: [(model) => model.texts_per_second, true],
  size: [(model) => model.size, false],
};

/** @param {HTMLTableElement} table @param {import("./main.js").Comparison} comparison
 * @param {import("./main.js").Store} store */
export function modelsTable(table, comparison, store) {
  const bar = intervalBars(comparison);
  const rows = comparison.models.map((model) => ({ model, row: rowOf(model, comparison, bar, store) }));
  const heads = Object.keys(COLUMNS).map((name) => headOf(name, sort));
  const body = element("tbody", {}, ...rows.map(({ row }) => row));
  table.replaceChildren(element("caption", { class: "unseen" }, say("models")),
    element("thead", {}, element("tr", {}, ...heads)), body);
  let sorted = "accuracy", isReversed = false;

  function sort(name) {
    isReversed = name === sorted && !isReversed;
    sorted = name;
    show();
    announce(say("sortedBy", say(name)));
  }

  function show() {
    const [value, isMoreBetter] = COLUMNS[sorted];
    const sign = (isMoreBetter ? -1 : 1) * (isReversed ? -1 : 1);
    rows.sort((a, b) => sign * compared(value(a.model), value(b.model)));
    body.append(...rows.map(({ row }) => row));
    const direction = isMoreBetter === isReversed ? "ascending" : "descending";
    heads.forEach((head) => head.setAttribute("aria-sort", head.dataset.column === sorted ? direction : "none"));
  }

  const mark = () => rows.forEach(({ model, row }) => {
    const isChosen = model.name === store.state.chosen;
    row.classList.toggle("is-chosen", isChosen);
    row.querySelector("button").setAttribute("aria-pressed", String(isChosen));
  });
  store.listen(mark);
  show();
  mark();
}

function compared(a, b) {
  return typeof a === "string" ? a.localeCompare(b) : a - b;
}

function headOf(name, sort) {
  const button = element("button", { type: "button" }, say(name));
  button.addEventListener("click", () => sort(name));
  return element("th", { scope: "col", "data-column": name }, button);
}

function rowOf(model, comparison, bar, store) {
  const choose = () => store.set({ chosen: model.name });
  const name = element("button", { type: "button" }, model.name);
  const badges = [];
  if (model.name === comparison.recommended) badges.push(element("span", { class: "badge" }, say("recommended")));
  const cell = (kind, ...children) => element("td", { class: kind }, ...children);
  const row = element("tr", {},
    element("th", { scope: "row" }, name, ...badges, element("small", {}, translated(model.kind))),
    cell("figure", element("span", { class: "value" }, percent(model.accuracy.value)), bar(model)),
    cell("number", percent(model.macro_f1)),
    cell("against", ...against(model)),
    cell("number", say("cpuSeconds", short(model.train_cpu_seconds))),
    cell("number", say("perSecond", short(model.texts_per_second))),
    cell("number", readableSize(model.size)));
  row.addEventListener("click", choose);
  return row;
}

/** The difference to the best, and what it means. */
function against({ difference }) {
  if (!difference) return [element("b", {}, say("best"))];
  const { value, low, high } = difference;
  const verdict = high < 0 ? "worse" : low > 0 ? "betterThan" : "asGood";
  return [element("span", { class: verdict }, say(verdict)), " ", element("span", { class: "value" }, signed(value)),
    element("small", {}, say("between", signed(low, 1), signed(high, 1)))];
}

/** What draws the interval of a model's accuracy above that of the best. */
function intervalBars({ models, test_texts: texts }) {
  const ends = comparable(models).flatMap(({ accuracy: { value, low, high } }) => [value, low, high]).filter((one) => one !== null);
  const scale = errorScale(ends.length ? ends : [0, 1], 0.5 / Math.max(texts, 1));
  const x = (share) => BAR * scale(share);
  const best = models[0]?.accuracy;
  return ({ name, accuracy: { value, low, high } }) => {
    if (value === null) return "";
    const [from, to] = [low ?? value, high ?? value];
    const label = `${say("interval")}: ${say("between", percent(from, 1), percent(to, 1))}`;
    const svg = drawn("svg", { class: "interval", width: BAR, height: 20, viewBox: `0 0 ${BAR} 20`, role: "img",
      "aria-label": label }, drawn("title", {}, `${name}. ${label}`));
    if (best?.low !== null && best) svg.append(drawn("rect", { class: "noise", x: x(best.low), y: 0, height: 20,
      width: Math.max(1, x(best.high) - x(best.low)) }));
    if (!scale(value)) svg.append(drawn("path", { class: "below", d: "M7 6L1 10L7 14" }));
    else svg.append(drawn("line", { class: "track", x1: 0, x2: BAR, y1: 10, y2: 10 }),
      drawn("line", { class: "range", x1: x(from), x2: Math.max(x(to), x(from) + 1), y1: 10, y2: 10 }),
      drawn("circle", { class: "middle", cx: x(value), cy: 10, r: 3.5 }));
    return svg;
  };
}
