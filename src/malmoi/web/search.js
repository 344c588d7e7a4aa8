// Texts found by what is typed: the same text first, then what begins so, then what holds it.
// All texts are one string, so that 400,000 are looked through in milliseconds.

import { folded, literal, pattern } from "./hangul.js";

const SCANNED = 5000; // matches after which no more are looked for

export class Finder {
  /** @param {string[]} texts */
  constructor(texts) {
    const lines = texts.map(folded);
    this.text = `\n${lines.join("\n")}\n`;
    this.starts = new Uint32Array(texts.length); // where each begins
    for (let i = 0, at = 1; i < lines.length; at += lines[i++].length + 1) this.starts[i] = at;
  }

  /** The rows of the best matches. @param {string} typed @param {number} most */
  find(typed, most) {
    const [exact, wanted] = [literal(typed.trim()), pattern(typed.trim())];
    if (!wanted) return [];
    const rows = new Set();
    const same = (form) => `(?<=\\n)${form}(?=\\n)`, begins = (form) => `(?<=\\n)${form}`;
    const forms = [same(exact), begins(exact), same(wanted), begins(wanted), wanted];
    for (const form of new Set(forms)) {
      for (const row of this.matches(new RegExp(form, "gu"))) {
        rows.add(row);
        if (rows.size >= most) return [...rows];
      }
    }
    return [...rows];
  }

  /** @param {RegExp} expression */
  *matches(expression) {
    let seen = 0;
    for (const { index } of this.text.matchAll(expression)) {
      if (++seen > SCANNED) return;
      yield this.row(index);
    }
  }

  /** The row of a place in the text, by halving. @param {number} at */
  row(at) {
    let low = 0, high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
