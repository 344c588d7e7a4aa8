// The analogy box: an expression, and what it comes closest to in each model.

import { analogyOf } from "./asking.js";
import { announce, byId, element } from "../shared/elements.js";
import { answerList, drawnRows } from "./point_panel.js";
import { say } from "./strings.js";

/** @param {import("./space.js").Space[]} spaces @param {import("./store.js").Store} store
 * @param {(space: number, row: number, key: string) => void} go */
export function analogyPanel(spaces, store, go) {
  const panel = byId("analogy");
  const possible = spaces.some(({ source, described, texts, alike }) =>
    !texts && !alike && (source.live || described.sections.coarse));
  panel.hidden = !possible; // without vectors there is nothing to compute with; texts have no sums
  if (!possible) return;
  const input = element("input", { type: "text", "aria-labelledby": "analogy-title", placeholder: example(spaces[0]) ?? "A - B + C",
    autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const form = element("form", { class: "row" }, input, element("button", { type: "submit" }, say("findAnalogy")));
  const answers = element("div", { class: "answers" });
  panel.replaceChildren(element("h2", { id: "analogy-title" }, say("analogy")), form, answers);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const expression = input.value.trim() || (example(spaces[0]) ?? "");
    input.value = expression;
    const all = await Promise.all(spaces.map((space) => answer(space, expression)));
    answers.replaceChildren(...all.flatMap((one, i) => shown(spaces, i, one, go, store)));
    store.set({ chosen: spaces.map(() => -1), asked: null });
    store.set({ nearby: all.map(({ found }, i) => drawnRows(spaces[i], found)) });
    const { found, problem } = all[0];
    announce(problem ?? `${expression}: ${found.slice(0, 5).map(({ key }) => key).join(", ")}.`);
  });
}

/** An expression that the model can answer, to begin with. @param {import("./space.js").Space} space */
function example(space) {
  const known = ["king - man + woman", "한국 - 서울 + 도쿄", "paris - france + italy"];
  return known.find((text) => text.split(/ [-+] /u).every((word) => space.find(word) >= 0));
}

/** @returns {Promise<import("./asking.js").Reply>} */
async function answer(space, expression) {
  try {
    return { found: await analogyOf(space, expression) };
  } catch (error) {
    return { found: [], problem: error.message };
  }
}

/** @param {import("./space.js").Space[]} spaces @param {number} i
 * @param {import("./asking.js").Reply} reply @param {(space: number, row: number, key: string) => void} go
 * @param {import("./store.js").Store} store */
function shown(spaces, i, { found, problem }, go, store) {
  const title = spaces.length > 1 ? [element("h4", {}, spaces[i].name)] : [];
  if (problem) return [...title, element("p", { class: "hint" }, problem)];
  const hover = (row) => store.set({ hovered: spaces.map((_, at) => (at === i ? row : -1)) });
  const note = spaces[i].source.live ? [] :
    [element("p", { class: "hint" }, say("rounded"))];
  return [...title, answerList(found, spaces[i], (row, key) => go(i, row, key), hover), ...note];
}
