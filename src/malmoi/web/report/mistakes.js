// The mistakes that a model is most sure of, with what spoke for the wrong label marked.

import { element } from "../shared/elements.js";
import { percent } from "./numbers.js";
import { say } from "./strings.js";

const STEPS = 5; // strengths of a mark
const PARTS = 4; // listed below a text

/** @param {any} model @returns {HTMLElement} */
export function mistakes(model) {
  const title = element("h3", {}, say("mistakes"));
  if (!model.mistakes.length) return element("section", {}, title, element("p", { class: "hint" }, say("noMistakes")));
  return element("section", {}, title, element("p", { class: "hint" }, say("mistakesHint")),
    element("ul", { class: "mistakes" }, ...model.mistakes.map(card)));
}

function card({ text, label, predicted, probability, parts }) {
  const wrong = parts.filter(([, own]) => own === predicted);
  const listed = wrong.slice(0, PARTS).map(([part, , value]) =>
    element("li", {}, `‘${part}’ `, element("span", { class: "value" }, `+${value.toFixed(2)}`)));
  return element("li", { class: "card" }, element("p", { class: "text" }, ...marked(text.normalize("NFC"), wrong)),
    element("p", { class: "verdict" },
      element("span", { class: "wrong" }, say("saidWith", predicted, `${percent(probability, 0)} %`)), " ",
      element("span", { class: "right" }, say("isInstead", label))),
    ...listed.length ? [element("ul", { class: "parts" }, ...listed)] : []);
}

/** A text with marks on its parts. @param {string} text @param {[string, string, number][]} parts */
function marked(text, parts) {
  return runs(strengths(text, parts)).map(([from, to, step]) =>
    step ? element("mark", { class: `mark-${step}` }, text.slice(from, to)) : text.slice(from, to));
}

/** How strongly each character is marked, from 0 to STEPS: parts that overlap add up.
 * @param {string} text @param {[string, string, number][]} parts @returns {number[]} */
export function strengths(text, parts) {
  const sums = new Array(text.length).fill(0);
  for (const [part, , value] of parts) {
    if (!(value > 0)) continue;
    for (const [from, to] of occurrences(text, part)) {
      for (let i = from; i < to; i++) sums[i] += value / (to - from);
    }
  }
  const most = Math.max(...sums, 0);
  return sums.map((sum) => most ? Math.ceil(STEPS * sum / most - 1e-9) : 0);
}

/** Where a part is in a text: as a word of its own, or else inside of words. A blank at its end is
 * one between words, or the end of the text: it is looked for, but not marked.
 * @returns {[number, number][]} */
function occurrences(text, part) {
  const own = part.trim();
  if (!own) return [];
  const whole = ` ${text} `, lower = whole.toLowerCase();
  const isSame = lower.length === whole.length; // else positions would not be those of the text
  const [within, wanted] = isSame ? [lower, part.toLowerCase()] : [whole, part];
  const sought = within.includes(wanted) ? wanted : wanted.trim();
  const skipped = sought.length - sought.trimStart().length - 1; // of the blank before the text
  const found = [];
  for (let at = within.indexOf(sought); at >= 0; at = within.indexOf(sought, at + 1)) {
    found.push([at + skipped, at + skipped + sought.trim().length]);
  }
  const isWord = ([from, to]) => !whole[from].trim() && !whole[to + 1].trim();
  const words = found.filter(isWord);
  return words.length ? words : found;
}

/** Neighbours of equal strength together, as [from, to, strength].
 * @param {number[]} steps @returns {[number, number, number][]} */
export function runs(steps) {
  const found = [];
  for (let i = 0; i < steps.length; i++) {
    const last = found[found.length - 1];
    if (last && last[2] === steps[i]) last[1] = i + 1;
    else found.push([i, i + 1, steps[i]]);
  }
  return found;
}
