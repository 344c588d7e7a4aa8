// What a model confuses: a matrix of all labels, or the most confused pairs where they are many.

import { element } from "../shared/elements.js";
import { percent } from "./numbers.js";
import { say } from "./strings.js";

/** @param {any} model with `confusion`, or `pairs` of label numbers and counts
 * @param {string[]} labels @returns {HTMLElement | null} null where texts have several labels */
export function confusion({ confusion: matrix, pairs }, labels) {
  if (matrix?.length) return section("confusion", say("confusionHint"), matrixTable(matrix, labels));
  if (pairs?.length) return section("confused", null, pairsTable(pairs, labels));
  return null;
}

function section(name, hint, table) {
  return element("section", {}, element("h3", {}, say(name)), ...hint ? [element("p", { class: "hint" }, hint)] : [],
    element("div", { class: "scroll tall", role: "region", tabindex: "0", "aria-label": say(name) }, table));
}

function matrixTable(matrix, labels) {
  const corner = element("td", {});
  const head = element("tr", {}, corner, ...labels.map((label) => element("th", { scope: "col", title: label }, label)));
  const rows = matrix.map((counts, i) => {
    const sum = counts.reduce((a, b) => a + b, 0) || 1;
    return element("tr", {}, element("th", { scope: "row", title: labels[i] }, labels[i]),
      ...counts.map((count, j) => countCell(count, count / sum, i === j, labels[i])));
  });
  return element("table", { class: "matrix" }, element("thead", {}, head), element("tbody", {}, ...rows));
}

/** A count, the darker the larger its share of the row. */
function countCell(count, share, isRight, label) {
  const title = say("share", `${percent(share, 1)} %`, label);
  const cell = element("td", { class: isRight ? "right" : count ? "wrong" : "none", title }, count.toLocaleString("en"));
  cell.style.setProperty("--share", String(isRight ? share : Math.sqrt(share)));
  return cell;
}

function pairsTable(pairs, labels) {
  const most = Math.max(...pairs.map(({ count }) => count));
  const rows = pairs.map(({ label, predicted, count }) => {
    const cell = element("td", { class: "wrong number" }, count.toLocaleString("en"));
    cell.style.setProperty("--share", String(count / most));
    return element("tr", {}, element("th", { scope: "row" }, labels[label]), element("td", {}, labels[predicted]), cell);
  });
  const heads = ["isLabel", "saidLabel", "textsCount"].map((name) => element("th", { scope: "col" }, say(name)));
  return element("table", { class: "pairs" }, element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows));
}
