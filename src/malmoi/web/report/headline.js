// The recommendation: one sentence, and what the recommended model costs.

import { byId, element } from "../shared/elements.js";
import { translated } from "./notes.js";
import { percent, readableSize, short } from "./numbers.js";
import { say } from "./strings.js";

/** @param {import("./main.js").Comparison} comparison */
export function headline(comparison) {
  const { models, train_texts: train, test_texts: test, labels, seeds } = comparison;
  byId("data").replaceChildren(element("b", {}, comparison.data), ` · ${say("data", train + test, labels.length, seeds.length)}`);
  const own = models.find(({ name }) => name === comparison.recommended);
  byId("headline").replaceChildren(element("h1", {}, translated(comparison.sentence)), ...own ? [facts(own)] : []);
}

function facts(model) {
  const { value, low, high } = model.accuracy;
  const all = [
    [say("accuracy"), `${percent(value)} %`, low === null ? "" : say("between", percent(low, 1), percent(high, 1))],
    [say("macroF1"), `${percent(model.macro_f1)} %`, ""],
    [say("training"), say("cpuSeconds", short(model.train_cpu_seconds)), ""],
    [say("speed"), say("perSecond", short(model.texts_per_second)), ""],
    [say("size"), readableSize(model.size), ""],
  ];
  return element("dl", { class: "tiles" }, ...all.map(([name, text, more]) => element("div", {},
    element("dt", {}, name), element("dd", {}, text, ...more ? [element("small", {}, more)] : []))));
}
