// Which points are named, and where: the first come first, and no name over another.

const TILE = [128, 52]; // pixels: each such part of the picture names one point
const TEXT_TILE = [230, 104]; // of texts, which are longer
const TRIED = 8; // points of a part that are tried at most, if names are in the way
const CELL = 8; // pixels: how finely it is noted where names are
const LONGEST = 28; // characters, as people count them
const SIMPLE = /^[ -~가-힣]*$/u; // a unit is a character: so most names, cut without much ado
const COLUMNS = 26; // of a text's beginning
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]|\p{Extended_Pictographic}/u;
const CHARACTERS = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** @typedef {{row: number, text: string, x: number, y: number, width: number}} Label */

/** A name short enough to stand in a picture. @param {string} key */
export function shortened(key) {
  const line = key.replace(/\s+/gu, " ");
  if (line.length <= LONGEST) return line;
  if (SIMPLE.test(line.slice(0, LONGEST + 1))) return `${line.slice(0, LONGEST - 1)}…`;
  const characters = [];
  for (const { segment } of CHARACTERS.segment(line)) {
    characters.push(segment);
    if (characters.length > LONGEST) return `${characters.slice(0, LONGEST - 1).join("")}…`;
  }
  return line;
}

/** How a text begins: as many whole words as stand in a picture, where a Korean syllable takes
 * as much room as two letters. @param {string} text */
export function beginning(text) {
  let begun = "";
  for (const word of text.slice(0, 8 * COLUMNS).trim().split(/\s+/u)) {
    const longer = begun ? `${begun} ${word}` : word;
    if (columns(longer) > COLUMNS) return begun ? `${begun} …` : cut(word);
    begun = longer;
  }
  return text.length > 8 * COLUMNS ? `${begun} …` : begun;
}

/** The first characters of a word that is too long. */
function cut(word) {
  let begun = "";
  for (const { segment } of CHARACTERS.segment(word)) {
    if (columns(begun + segment) > COLUMNS - 1) break;
    begun += segment;
  }
  return `${begun}…`;
}

function columns(text) {
  let count = 0;
  for (const character of text) count += WIDE.test(character) ? 2 : 1;
  return count;
}

/** Ground that is taken by names already. */
export class Ground {
  constructor(width, height) {
    this.columns = Math.ceil(width / CELL);
    this.lines = Math.ceil(height / CELL);
    this.taken = new Uint8Array(this.columns * this.lines);
  }

  /** Take a rectangle if it is free and inside; whether it was. */
  take(left, top, width, height) {
    const from = Math.floor(left / CELL), to = Math.floor((left + width) / CELL);
    const first = Math.floor(top / CELL), last = Math.floor((top + height) / CELL);
    if (from < 0 || first < 0 || to >= this.columns || last >= this.lines) return false;
    for (let line = first; line <= last; line++) {
      for (let at = line * this.columns + from; at <= line * this.columns + to; at++) {
        if (this.taken[at]) return false;
      }
    }
    this.cover(from, to, first, last);
    return true;
  }

  /** Take a rectangle whatever is there already. */
  claim(left, top, width, height) {
    const inside = (at, most) => Math.max(0, Math.min(most - 1, Math.floor(at / CELL)));
    this.cover(inside(left, this.columns), inside(left + width, this.columns),
      inside(top, this.lines), inside(top + height, this.lines));
  }

  cover(from, to, first, last) {
    for (let line = first; line <= last; line++) {
      this.taken.fill(1, line * this.columns + from, line * this.columns + to + 1);
    }
  }
}

/** Names for points in view: in each part of the picture the first row that there is room for.
 * @param {import("./screen.js").Screen} screen @param {Ground} ground
 * @param {(row: number) => string} nameOf @param {(text: string) => number} widthOf
 * @param {{width: number, height: number, line: number, gap: number, origin: number[],
 *   named: Set<number>, texts?: boolean}} size parts are counted from the origin, which moves with the points, so
 *   that names stay; those that are named already are left out
 * @returns {Label[]} */
export function placeLabels(screen, ground, nameOf, widthOf, { width, height, line, gap, origin, named, texts }) {
  const part = texts ? TEXT_TILE : TILE;
  const [left, top] = origin.map((at, axis) => (((at % part[axis]) + part[axis]) % part[axis]) - part[axis]);
  const columns = Math.ceil((width - left) / part[0]);
  const tries = new Uint8Array(columns * Math.ceil((height - top) / part[1]));
  const labels = [], said = new Set();
  for (let row = 0; row < screen.x.length; row++) {
    const x = screen.x[row], y = screen.y[row];
    if (!(x > 0 && x < width && y > 0 && y < height)) continue;
    const tile = Math.floor((y - top) / part[1]) * columns + Math.floor((x - left) / part[0]);
    if (++tries[tile] > TRIED) {
      tries[tile]--;
      continue;
    }
    if (named.has(row)) continue;
    const text = shortened(nameOf(row));
    if (said.has(text)) continue; // many points may have one name: it is written once
    const wide = widthOf(text);
    if (ground.take(x + gap, y - line / 2, wide, line)) {
      labels.push({ row, text, x: x + gap, y, width: wide });
      said.add(text);
      tries[tile] = TRIED;
    }
  }
  return labels;
}
