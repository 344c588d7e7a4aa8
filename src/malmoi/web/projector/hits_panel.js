// The answers to a question: the texts that match best, lit up in the picture and listed by rank.

import { hitsOf } from "./asking.js";
import { announce, byId, element } from "../shared/elements.js";
import { beginning } from "./labels.js";
import { say } from "./strings.js";

/** @param {import("./space.js").Space[]} spaces @param {import("./store.js").Store} store
 * @param {(space: number, row: number, key: string) => void} go
 * @param {(rows: number[]) => void} show brings points into view */
export function hitsPanel(spaces, store, go, show) {
  const panel = byId("hits"), [space] = spaces;
  let turn = 0; // answers that come late are not shown

  const search = async () => {
    const { question } = store.state, mine = ++turn;
    panel.hidden = question === null;
    if (question === null) return store.set({ lit: spaces.map(() => null) });
    const list = element("div", { class: "answers", "aria-busy": "true" });
    const clear = element("button", { type: "button" }, say("clear"));
    clear.addEventListener("click", () => store.set({ question: null }));
    panel.replaceChildren(
      element("div", { class: "row" }, element("h2", { id: "hits-title" }, say("hits")), clear),
      element("p", { class: "question", dir: "auto" }, question), list);
    panel.scrollIntoView({ block: "start" });
    const { hits, problem } = await answer(space, question);
    if (mine !== turn) return;
    list.removeAttribute("aria-busy");
    const drawn = hits.map((hit, i) => ({ ...hit, rank: i + 1 })).filter(({ row }) => row >= 0);
    const lit = new Map(drawn.map(({ row, rank }) => [row, rank]));
    store.set({ lit: spaces.map((_, i) => (i === 0 && !problem ? lit : null)), chosen: spaces.map(() => -1) });
    if (lit.size) show([...lit.keys()]);
    if (!hits.length) return list.append(element("p", { class: "hint" }, problem ?? say("noHits")));
    list.append(element("ol", {}, ...hits.map((hit, i) => element("li", {}, hitButton(hit, i + 1)))));
    announce(say("hitsFound", question, hits.slice(0, 3).map(({ text }) => beginning(text)).join(", ")));
  };

  const hitButton = ({ key, row, text, score }, rank) => {
    const button = element("button", { type: "button", class: "hit" },
      element("b", { class: row < 0 ? "rank" : "rank drawn" }, String(rank)),
      element("span", { class: "key", dir: "auto" }, text),
      element("span", { class: "score" }, score.toFixed(2)));
    if (row < 0) button.title = say("notDrawnHere");
    const hover = (at) => store.set({ hovered: spaces.map((_, i) => (i === 0 ? at : -1)) });
    button.addEventListener("click", () => go(0, row, key));
    for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => hover(row));
    for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => hover(-1));
    return button;
  };

  store.listen((changed) => { if (changed.has("question")) search(); });
}

/** @returns {Promise<{hits: import("./asking.js").Hit[], problem?: string}>} */
async function answer(space, question) {
  try {
    return { hits: await hitsOf(space, question) };
  } catch (error) {
    return { hits: [], problem: error.message };
  }
}
