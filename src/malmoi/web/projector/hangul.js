// Korean as it is typed: composed, and found by initials (초성) or by a syllable half written.

const INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ";
const FIRST = 0xac00; // 가
const LAST = 0xd7a3; // 힣
const FINALS = 28; // of a syllable, none included
const OF_INITIAL = 21 * FINALS; // syllables that begin alike

/** Text as all texts are compared here: composed, in small letters, on one line.
 * @param {string} text */
export function folded(text) {
  return text.normalize("NFC").toLowerCase().replace(/\s/gu, " ");
}

/** What matches a text and nothing else, as a regular expression's source. @param {string} typed */
export function literal(typed) {
  return folded(typed).replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&");
}

/** What a typed text matches, as a regular expression's source: an initial any syllable that
 * begins with it, and an open syllable at the end, which may be half written, any final.
 * @param {string} typed */
export function pattern(typed) {
  const characters = Array.from(folded(typed));
  return characters.map((character, i) => {
    const initial = INITIALS.indexOf(character);
    if (initial >= 0) {
      const from = FIRST + initial * OF_INITIAL;
      return `[${range(from, OF_INITIAL)}${character}]`;
    }
    const at = character.codePointAt(0) - FIRST;
    const open = at >= 0 && at <= LAST - FIRST && at % FINALS === 0;
    if (open && i === characters.length - 1) return `[${range(FIRST + at, FINALS)}]`;
    return literal(character);
  }).join("");
}

function range(from, length) {
  return `${String.fromCharCode(from)}-${String.fromCharCode(from + length - 1)}`;
}
