// All about the chosen model: what it confuses, how well it finds each label, and its mistakes.

import { byId, element } from "../shared/elements.js";
import { confusion } from "./confusion.js";
import { mistakes } from "./mistakes.js";
import { translated } from "./notes.js";
import { percent } from "./numbers.js";
import { say } from "./strings.js";

const LABELS = 100; // rows of the table of labels

/** @param {any} model @param {import("./main.js").Comparison} comparison
 * @param {import("./main.js").Store} store */
export function modelPanel(model, comparison, store) {
  if (!model) return;
  const parts = [confusion(model, comparison.labels), labelScores(model.labels)].filter(Boolean);
  const choice = choiceOf(comparison.models, store);
  const hadFocus = byId("chosen").querySelector("select") === document.activeElement;
  byId("chosen").replaceChildren(
    element("div", { class: "row" }, element("h2", { id: "chosen-title" }, model.name), choice),
    element("p", { class: "hint" }, translated(model.kind)),
    element("dl", { class: "facts" },
      fact(say("bySeed"), model.by_seed.map((one) => percent(one)).join(" · ")),
      fact(say("calibration"), `${percent(model.calibration_error)} %`)),
    element("div", { class: "pair" }, ...parts), mistakes(model));
  if (hadFocus) choice.focus();
}

/** A name and its value. @param {string} name @param {...(Node | string)} value */
export function fact(name, ...value) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, ...value));
}

function choiceOf(models, store) {
  const select = element("select", { "aria-label": say("chosenModel") },
    ...models.map(({ name }) => element("option", { value: name }, name)));
  select.value = store.state.chosen;
  select.addEventListener("change", () => store.set({ chosen: select.value }));
  return select;
}

function labelScores(labels) {
  const heads = ["label", "precision", "recall", "f1", "textsCount"];
  const rows = labels.slice(0, LABELS).map((one) => element("tr", {},
    element("th", { scope: "row" }, one.label),
    ...["precision", "recall", "f1"].map((name) => element("td", { class: "number" }, gauge(one[name]))),
    element("td", { class: "number" }, one.texts.toLocaleString("en"))));
  const table = element("table", { class: "scores" },
    element("thead", {}, element("tr", {}, ...heads.map((name) => element("th", { scope: "col" }, say(name))))),
    element("tbody", {}, ...rows));
  const more = labels.length > LABELS ? [element("p", { class: "hint" }, say("more", labels.length - LABELS))] : [];
  return element("section", {}, element("h3", {}, say("byLabel")),
    element("div", { class: "scroll tall", role: "region", tabindex: "0", "aria-label": say("byLabel") }, table), ...more);
}

/** A share as a number above a bar. */
function gauge(share) {
  const made = element("span", { class: "gauge" }, percent(share, 1));
  made.style.setProperty("--share", String(share));
  return made;
}
