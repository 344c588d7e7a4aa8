// Colour by a field, with a legend: labels that can be switched off, or a scale for numbers.

import { labelColours, scaleColour, scaleOf } from "./colours.js";
import { byId, element } from "../shared/elements.js";
import { translated, translatedLabel } from "./notes.js";
import { shortNumber } from "./space.js";
import { say } from "./strings.js";

const LISTED = 200; // labels; those with the most points

/** @param {import("./space.js").Space[]} spaces */
export function colourPanel(spaces, store) {
  const panel = byId("colour");
  const names = [...new Set(spaces.flatMap(({ fields }) => fields.map(({ name }) => name)))];
  panel.hidden = !names.length;
  const select = element("select", { "aria-label": say("colourBy") }, element("option", { value: "" }, say("nothing")),
    ...names.map((name) => element("option", { value: name }, translated(name))));
  const legend = element("div", { class: "legend" });
  panel.replaceChildren(
    element("div", { class: "row" }, element("h2", { id: "colour-title" }, say("colour")), select), legend);
  select.addEventListener("change", () =>
    store.set({ colourBy: select.value || null, hidden: new Set(), alone: null }));

  const show = () => {
    select.value = store.state.colourBy ?? "";
    const field = spaces.flatMap(({ fields }) => fields).find(({ name }) => name === store.state.colourBy);
    legend.replaceChildren(...(!field ? [] : field.kind === "label" ? labels(field, store) : scale(field)));
  };
  store.listen((changed) => { if (changed.has("colourBy")) show(); });
  addEventListener("themechange", show);
  show();
}

/** @param {import("./space.js").Field} field */
function labels(field, store) {
  const toggle = (label) => {
    const hidden = new Set(store.state.hidden);
    if (!hidden.delete(label)) hidden.add(label);
    store.set({ hidden });
  };
  const all = labelColours(field), more = all.length - LISTED;
  const list = element("ul", {}, ...all.slice(0, LISTED).map(({ label, count, colour }) => {
    const dot = element("i", { class: "dot" });
    dot.style.background = colour;
    const button = element("button", { type: "button", "aria-pressed": String(!store.state.hidden.has(label)) },
      dot, element("span", { class: "key", dir: "auto" }, translatedLabel(field.name, label)),
      element("span", { class: "score" }, count.toLocaleString("en")));
    button.addEventListener("click", () => {
      toggle(label);
      button.setAttribute("aria-pressed", String(!store.state.hidden.has(label)));
    });
    for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => store.set({ alone: label }));
    for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => store.set({ alone: null }));
    return element("li", {}, button);
  }));
  const rest = more > 0 ? [element("p", { class: "hint" }, say("moreLabels", more))] : [];
  return [list, ...rest, element("p", { class: "hint" }, say("legendHint"))];
}

/** @param {import("./space.js").Field} field */
function scale({ values }) {
  const { low, high, logarithmic } = scaleOf(values);
  const range = say("range", shortNumber(low), shortNumber(high));
  const bar = element("div", { class: "scale", role: "img", "aria-label": range });
  const stops = Array.from({ length: 12 }, (_, i) => `rgb(${scaleColour(i / 11).join()})`);
  bar.style.background = `linear-gradient(to right, ${stops.join()})`;
  const ends = element("div", { class: "ends" }, element("span", {}, shortNumber(low)),
    element("span", {}, logarithmic ? say("logarithmic") : ""), element("span", {}, shortNumber(high)));
  return [bar, ends];
}
