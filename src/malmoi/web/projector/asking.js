// Neighbours and analogies: from the page's own lists and coarse vectors, or asked of the server,
// which searches texts too.

import { parseExpression, rankCoarse } from "./analogy.js";
import { say } from "./strings.js";

const K = 10;

/** @typedef {{key: string, row: number, score: number, digits: number}} Answer
 *    row is -1 or past the points for what is not drawn
 *  @typedef {{found: Answer[], problem?: string}} Reply
 *  @typedef {Answer & {text: string}} Hit */

/** The neighbours of a point, or of a key that has none and row -1.
 * @param {import("./space.js").Space} space @param {number} row @param {string} key
 * @param {string} metric @returns {Promise<Answer[]>} */
export async function neighboursOf(space, row, key, metric) {
  if (space.source.live && !space.alike) {
    const asked = { model: space.name, word: key, k: String(K), metric };
    return found(space, (await ask("neighbours", asked))?.neighbours);
  }
  if (row < 0) throw new Error(say("notIn", space.name));
  if (!space.described.metrics.includes(metric)) {
    throw new Error(say("withoutLists"));
  }
  return space.near(row, metric);
}

/** What an expression comes closest to. @param {import("./space.js").Space} space
 * @param {string} expression @returns {Promise<Answer[]>} */
export async function analogyOf(space, expression) {
  const terms = parseExpression(expression);
  if (space.source.live) {
    const asked = { model: space.name, expression, k: String(K) };
    return found(space, (await ask("analogy", asked))?.answers);
  }
  const described = space.described.sections.coarse;
  if (!described) throw new Error(say("withoutVectors"));
  const rows = terms.map(({ word, weight }) => ({ row: space.find(word), weight, word }));
  const unknown = rows.filter(({ row }) => row < 0).map(({ word }) => `“${word}”`);
  if (unknown.length) throw new Error(say("unknown", unknown.join(", ")));
  const best = rankCoarse(rows, await space.read("coarse"), described.shape[1], K);
  return best.map(({ row, score }) => ({ key: space.keys[row], row, score, digits: 2 }));
}

/** The texts that match a question best, best first. @param {import("./space.js").Space} space
 * @param {string} question @returns {Promise<Hit[]>} */
export async function hitsOf(space, question) {
  const { hits } = await ask("search", { index: space.name, q: question, k: String(K) }) ?? {};
  const texts = Array.isArray(hits) && hits.every((hit) => typeof hit?.text === "string") ? hits : [null];
  return found(space, texts.map((hit) => hit && { ...hit, key: hit.id }))
    .map((answer, i) => ({ ...answer, text: texts[i].text }));
}

/** @param {string} path @param {Record<string, string>} asked */
async function ask(path, asked) {
  let answer, said;
  try {
    answer = await fetch(`${path}?${new URLSearchParams(asked)}`);
    said = await answer.json();
  } catch {
    throw new Error(say("noAnswer"));
  }
  if (!answer.ok) throw new Error(sentence(said) ?? say("answers", answer.status));
  return said;
}

/** The sentence in an answer that tells of an error, whichever its shape. @param {any} answer */
export function sentence(answer) {
  const { error, detail, message } = answer ?? {};
  const said = error?.message ?? error ?? detail ?? message;
  return typeof said === "string" ? said : null;
}

/** Answers with their rows; what is no list of words and scores is refused in a sentence.
 * @param {import("./space.js").Space} space @param {any} answers @returns {Answer[]} */
export function found(space, answers) {
  const fits = (one) => typeof one?.key === "string" && Number.isFinite(one.score);
  if (!Array.isArray(answers) || !answers.every(fits)) {
    throw new Error(say("noList"));
  }
  return answers.map(({ key, score }) => ({ key, score, row: space.find(key), digits: 4 }));
}
