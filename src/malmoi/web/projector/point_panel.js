// The chosen point: its key, its line, its fields, and its nearest in each model.

import { neighboursOf } from "./asking.js";
import { announce, byId, element } from "../shared/elements.js";
import { say } from "./strings.js";

const METRICS = ["cosine", "euclidean", "dot"];
const LIVE = ["cosine", "euclidean"]; // what a server is asked for

/** @param {import("./space.js").Space[]} spaces
 * @param {(space: number, row: number, key: string) => void} go */
export function pointPanel(spaces, store, go) {
  const panel = byId("point");
  let turn = 0; // answers that come late are not shown

  const show = async () => {
    const { chosen, asked, metric } = store.state;
    const mine = ++turn;
    const first = Math.max(0, chosen.findIndex((row) => row >= 0));
    const key = asked ?? spaces[first].keys[chosen[first]];
    if (key === undefined) {
      panel.replaceChildren(element("h2", { id: "point-title" }, say("point")), element("p", { class: "hint" },
        say("pointHint")));
      store.set({ nearby: spaces.map(() => []) });
      return;
    }
    const lists = spaces.map((_, i) => element("div", { class: "answers", "aria-busy": "true" }));
    panel.replaceChildren(...heading(spaces[first], chosen[first], key), metrics(), ...lists);
    const answers = await Promise.all(spaces.map((space, i) => ask(space, chosen[i], key, metric)));
    if (mine !== turn) return;
    lists.forEach((list, i) => {
      list.replaceChildren(...answersOf(spaces, i, answers));
      list.removeAttribute("aria-busy");
    });
    store.set({ nearby: answers.map(({ found }, i) => drawnRows(spaces[i], found)) });
    announce(told(spaces[first], chosen[first], key, answers[first]));
  };

  const metrics = () => {
    const known = spaces[0].source.live ? LIVE :
      METRICS.filter((name) => spaces.some((space) => space.described.metrics.includes(name)));
    const choice = element("div", { class: "choice", role: "group", "aria-label": say("nearness") });
    for (const name of known) {
      const pressed = String(store.state.metric === name);
      const button = element("button", { type: "button", "aria-pressed": pressed }, say(name));
      button.addEventListener("click", () => {
        store.set({ metric: name });
        panel.querySelector('.choice [aria-pressed="true"]')?.focus(); // the list is made anew
      });
      choice.append(button);
    }
    return element("div", { class: "row" }, element("h3", {}, say("nearest")), known.length > 1 ? choice : "");
  };

  const answersOf = (all, i, answers) => {
    const { found, problem } = answers[i];
    const title = all.length > 1 ? [element("h4", {}, all[i].name, shared(answers, i))] : [];
    if (problem) return [...title, element("p", { class: "hint" }, problem)];
    if (!found.length) return [...title, element("p", { class: "hint" }, say("alone"))];
    const other = all.length > 1 ? new Set(answers[1 - i].found.map(({ key }) => key)) : null;
    return [...title, answerList(found, all[i], (to, key) => go(i, to, key), (at) => hover(i, at), other)];
  };
  const hover = (i, row) => store.set({ hovered: spaces.map((_, at) => (at === i ? row : -1)) });

  store.listen((changed) => { if (["chosen", "asked", "metric"].some((name) => changed.has(name))) show(); });
  show();
}

/** Answers as a list of buttons with bars as long as the scores.
 * @param {import("./asking.js").Answer[]} found @param {import("./space.js").Space} space
 * @param {(row: number, key: string) => void} go @param {(row: number) => void} hover
 * @param {Set<string> | null} common keys that the other model lists too */
export function answerList(found, space, go, hover, common = null) {
  const most = Math.max(...found.map(({ score }) => Math.abs(score))) || 1;
  return element("ol", {}, ...found.map(({ key, row, score, digits }) => {
    const drawn = row >= 0 && row < space.count;
    const bar = element("i", { class: "bar" });
    bar.style.width = `${(Math.abs(score) / most) * 100}%`;
    const line = space.alike || space.texts ? null : space.details?.[row];
    const button = element("button", { type: "button", class: common?.has(key) ? "common" : "" },
      element("span", { class: "key", dir: "auto" }, drawn ? space.title(row) : key),
      element("span", { class: "score" }, score.toFixed(digits)),
      ...(line ? [element("span", { class: "line", dir: "auto" }, line)] : []), bar);
    button.disabled = !drawn && !space.source.live; // a server knows more than is drawn
    if (!drawn) button.title = say("notDrawnHere");
    button.addEventListener("click", () => go(row, key));
    if (drawn) {
      for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => hover(row));
      for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => hover(-1));
    }
    return element("li", {}, button);
  }));
}

/** The rows among answers that have a point. */
export function drawnRows(space, found) {
  return found.map(({ row }) => row).filter((row) => row >= 0 && row < space.count);
}

function heading(space, row, key) {
  const facts = row < 0 ? [] : space.facts(row).map(({ name, value }) =>
    element("div", {}, element("dt", {}, name), element("dd", { dir: "auto" }, value)));
  return [
    element("h2", { id: "point-title", class: space.texts ? "id" : "chosen", dir: "auto" }, key),
    ...(row < 0 ? [element("p", { class: "hint" }, say("notDrawn"))] : []),
    ...(space.details && row >= 0 ? [element("p", { class: "sentence", dir: "auto" }, space.details[row])] : []),
    ...(facts.length ? [element("dl", { class: "facts" }, ...facts)] : []),
  ];
}

/** @returns {Promise<import("./asking.js").Reply>} */
async function ask(space, row, key, metric) {
  try {
    return { found: await neighboursOf(space, row, key, metric) };
  } catch (error) {
    return { found: [], problem: error.message };
  }
}

function shared(answers, i) {
  const [mine, others] = [answers[i].found, answers[1 - i].found].map((found) => found.map(({ key }) => key));
  if (!mine.length || !others.length) return "";
  const both = mine.filter((key) => others.includes(key)).length;
  return element("span", { class: "aside" }, say("inBoth", both, mine.length));
}

/** @param {import("./space.js").Space} space @param {import("./asking.js").Reply} reply */
function told(space, row, key, { found, problem }) {
  const named = (at, other) => (at >= 0 && at < space.count ? space.label(at) : other);
  if (problem) return `${named(row, key)}. ${problem}`;
  return say("nearestAre", named(row, key), found.slice(0, 5).map((one) => named(one.row, one.key)).join(", "));
}
