// What was found in the data, which models have no scores, and how it was measured.

import { byId, element } from "../shared/elements.js";
import { fact } from "./model_panel.js";
import { translated } from "./notes.js";
import { duration } from "./numbers.js";
import { say } from "./strings.js";

const LABELS = 20; // listed by name

/** @param {import("./main.js").Comparison} comparison */
export function aboutPanel(comparison) {
  const { notes, failed, labels, seeds } = comparison;
  const listed = labels.slice(0, LABELS).join(", ") + (labels.length > LABELS ? `, ${say("more", labels.length - LABELS)}` : "");
  const facts = [
    [say("trainTexts"), comparison.train_texts.toLocaleString("en")],
    [say("testTexts"), comparison.test_texts.toLocaleString("en")],
    [say("seeds"), seeds.join(", ")],
    [say("labels"), comparison.multi_label ? `${listed} (${say("severalLabels")})` : listed],
    [say("machine"), comparison.machine],
    [say("time"), duration(comparison.seconds)],
  ];
  const parts = [];
  if (notes.length) parts.push(section("notes", element("ul", { class: "notes" },
    ...notes.map((note) => element("li", {}, translated(note))))));
  if (failed.length) parts.push(section("failed", element("dl", { class: "facts" },
    ...failed.map(([name, why]) => fact(name, translated(why))))));
  parts.push(section("measured", element("dl", { class: "facts" }, ...facts.map(([name, value]) => fact(name, value))),
    element("p", { class: "hint" }, say("measuredHint"))));
  byId("about").replaceChildren(...parts);
}

function section(name, ...children) {
  return element("section", {}, element("h2", {}, say(name)), ...children);
}
