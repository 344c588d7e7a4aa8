// The report of a comparison: reads it from the page, shows it, and links the parts by the model
// that is chosen.

import { announce, byId, element } from "../shared/elements.js";
import { fillTexts } from "../shared/language.js";
import { beginTheme, switchTheme } from "../shared/theme.js";
import { aboutPanel } from "./about_panel.js";
import { headline } from "./headline.js";
import { modelPanel } from "./model_panel.js";
import { modelsTable } from "./models_table.js";
import { costChoice, costPlot, curvePlot } from "./plots.js";
import { say } from "./strings.js";

/** @typedef {Record<string, any>} Comparison as malmoi.classify.compare.result describes it
 * @typedef {{ chosen: string, cost: string }} State
 * @typedef {{ state: State, set: (changes: Partial<State>) => void, listen: (then: () => void) => void }} Store */

function begin() {
  beginTheme();
  fillTexts(document, say);
  byId("theme").addEventListener("click", switchTheme);
  const comparison = readComparison();
  const store = createStore({ chosen: comparison.recommended || comparison.models[0]?.name, cost: "training" });
  headline(comparison);
  modelsTable(document.querySelector("#models table"), comparison, store);
  costChoice(document.querySelector("#costs .choice"), store);
  drawPlots(comparison, store);
  aboutPanel(comparison);
  const show = () => modelPanel(comparison.models.find(({ name }) => name === store.state.chosen), comparison, store);
  store.listen(show);
  show();
  for (const id of ["models", "costs", "chosen"]) byId(id).hidden = !comparison.models.length;
  document.documentElement.dataset.ready = "";
}

function readComparison() {
  try {
    return JSON.parse(byId("comparison").textContent);
  } catch (error) {
    throw new Error(say("damaged", error.message));
  }
}

/** @param {State} state @returns {Store} */
function createStore(state) {
  const listeners = [];
  return {
    state,
    set: (changes) => {
      if (Object.entries(changes).every(([name, value]) => state[name] === value)) return;
      Object.assign(state, changes);
      listeners.forEach((then) => then());
      if (changes.chosen) announce(`${say("chosenModel")}: ${changes.chosen}`);
    },
    listen: (then) => listeners.push(then),
  };
}

/** Both plots have the width of their column, so that their texts have one size everywhere. */
function drawPlots(comparison, store) {
  const plots = { costs: costPlot, curves: curvePlot };
  const draw = () => {
    for (const [id, plot] of Object.entries(plots)) {
      const figure = byId(id).querySelector("figure");
      const width = Math.floor(figure.clientWidth);
      const svg = comparison.models.length && width ? plot(comparison, store, width) : null;
      byId(id).hidden = !svg;
      if (svg) figure.replaceChildren(svg);
    }
  };
  draw();
  store.listen(draw);
  let last = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === last) return;
    last = innerWidth;
    draw();
  });
}

try {
  begin();
} catch (error) {
  byId("headline").replaceChildren(element("p", { role: "alert" }, error.message));
  document.documentElement.dataset.failed = "";
}
