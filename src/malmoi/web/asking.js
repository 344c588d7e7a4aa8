// Neighbours and analogies: from the page's own lists and coarse vectors, or asked of the server.

import { parseExpression, rankCoarse } from "./analogy.js";

const K = 10;

/** @typedef {{key: string, row: number, score: number, digits: number}} Answer
 *    row is -1 or past the points for what is not drawn
 *  @typedef {{found: Answer[], problem?: string}} Reply */

/** The neighbours of a point, or of a key that has none and row -1.
 * @param {import("./space.js").Space} space @param {number} row @param {string} key
 * @param {string} metric @returns {Promise<Answer[]>} */
export async function neighboursOf(space, row, key, metric) {
  if (space.source.live && !space.alike) {
    const asked = { model: space.name, word: key, k: String(K), metric };
    return found(space, (await ask("neighbours", asked))?.neighbours);
  }
  if (row < 0) throw new Error(`It is not in ${space.name}.`);
  if (!space.described.metrics.includes(metric)) {
    throw new Error("This page was written without lists of neighbours.");
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
  if (!described) throw new Error("This page was written without vectors to compute with.");
  const rows = terms.map(({ word, weight }) => ({ row: space.find(word), weight, word }));
  const unknown = rows.filter(({ row }) => row < 0).map(({ word }) => `“${word}”`);
  if (unknown.length) throw new Error(`Not among the points: ${unknown.join(", ")}.`);
  const best = rankCoarse(rows, await space.read("coarse"), described.shape[1], K);
  return best.map(({ row, score }) => ({ key: space.keys[row], row, score, digits: 2 }));
}

/** @param {string} path @param {Record<string, string>} asked */
async function ask(path, asked) {
  let answer, said;
  try {
    answer = await fetch(`${path}?${new URLSearchParams(asked)}`);
    said = await answer.json();
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  if (!answer.ok) throw new Error(sentence(said) ?? `The server answers ${answer.status}.`);
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
    throw new Error("The server's answer is no list of words. Is it malmoi's?");
  }
  return answers.map(({ key, score }) => ({ key, score, row: space.find(key), digits: 4 }));
}
