// Analogies over vectors of bytes: the expression read as `malmoi analogy` reads it, and the rows
// nearest to the sum of its words, the words themselves left out.

import { say } from "./strings.js";

const OPERATOR = /[+\-−–]/u;
const PIECE = new RegExp(
  "\\s*(?:(?<sign>[+\\-−–])(?:\\s+|$)|(?:(?<weight>\\d+(?:\\.\\d*)?|\\.\\d+)\\s*[*×]\\s*)?" +
  "(?:\"(?<double>[^\"]*)\"|'(?<single>[^']*)'(?=\\s|$)|(?<word>\\S+)))", "gu");

/** `2*king - man + 'New York'` as words and weights; without any space every sign is one.
 * @param {string} text @returns {{word: string, weight: number}[]} */
export function parseExpression(text) {
  let spaced = text.trim();
  if (!/\s/u.test(spaced) && !/^["']/u.test(spaced)) {
    spaced = spaced.replace(new RegExp(OPERATOR, "gu"), " $& ");
  }
  const terms = [];
  let sign = 1; // 0: an operator is due
  for (const { groups } of spaced.matchAll(PIECE)) {
    if (groups.sign) {
      if (sign && terms.length) throw new Error(say("twoOperators"));
      sign = groups.sign === "+" ? 1 : -1;
      continue;
    }
    const word = groups.double || groups.single || groups.word;
    if (!sign) throw new Error(say("noOperator", word));
    if (!word) throw new Error(say("emptyWord"));
    terms.push({ word: word.normalize("NFC"), weight: sign * Number(groups.weight ?? 1) });
    sign = 0;
  }
  if (!terms.length || sign) throw new Error(say("writeLike"));
  return terms;
}

/** The k rows whose coarse vectors have the highest cosine with the weighted sum of unit vectors.
 * @param {{row: number, weight: number}[]} terms @param {Int8Array} bytes [points, dim]
 * @param {number} dim @param {number} k @returns {{row: number, score: number}[]} */
export function rankCoarse(terms, bytes, dim, k) {
  const direction = new Float32Array(dim);
  for (const { row, weight } of terms) {
    const length = norm(bytes.subarray(row * dim, (row + 1) * dim)) || 1;
    for (let i = 0; i < dim; i++) direction[i] += (weight * bytes[row * dim + i]) / length;
  }
  const far = norm(direction);
  if (!far) throw new Error(say("cancel"));
  const own = new Set(terms.map(({ row }) => row));
  const best = [];
  for (let row = 0, at = 0; at < bytes.length; row++) {
    let product = 0, square = 0;
    for (let i = 0; i < dim; i++, at++) {
      const value = bytes[at];
      product += value * direction[i];
      square += value * value;
    }
    const score = square ? product / (Math.sqrt(square) * far) : -1;
    if (best.length === k && score <= best[k - 1].score) continue;
    if (own.has(row)) continue;
    insert(best, { row, score }, k);
  }
  return best;
}

/** Keep the k best, in order. */
function insert(best, one, k) {
  let at = best.length;
  while (at > 0 && best[at - 1].score < one.score) at--;
  best.splice(at, 0, one);
  if (best.length > k) best.pop();
}

function norm(values) {
  let square = 0;
  for (const value of values) square += value * value;
  return Math.sqrt(square);
}
