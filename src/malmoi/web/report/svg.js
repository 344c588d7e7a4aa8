// Drawings: SVG elements made by name, the frame of a plot, and names that do not overlap.
// Text is text: nothing here reads markup.

/** @param {string} name @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} children @returns {SVGElement} */
export function drawn(name, attributes = {}, ...children) {
  const namespace = document.querySelector("svg").namespaceURI; // of an icon of the page
  const made = /** @type {SVGElement} */ (document.createElementNS(namespace, name));
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** The width of a text of 12 pixels. @param {string} text */
export function textWidth(text) {
  return [...text].reduce((sum, letter) => sum + (letter > "\u1100" ? 12 : /[A-Zmw]/u.test(letter) ? 9 : 6.6), 0);
}

/** A name of at most so many pixels. @param {string} text @param {number} width */
export function fitted(text, width) {
  if (textWidth(text) <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && textWidth(letters.join("")) + 8 > width) letters.pop();
  return `${letters.join("")}…`;
}

/** An empty plot: its SVG, and where a share of its width and height lies.
 * @param {{ width: number, height: number, right?: number, label: string }} size */
export function plot({ width, height, right = 16, label }) {
  const [left, top, bottom] = [46, 14, 46];
  const svg = drawn("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": label });
  return {
    svg, left, top, width, right: width - right, bottom: height - bottom,
    x: (share) => left + share * (width - left - right),
    y: (share) => height - bottom - share * (height - top - bottom),
  };
}

/** Lines and numbers of the accuracy, at the left: the roundest that fit.
 * @param {ReturnType<typeof plot>} frame @param {(share: number) => number} scale */
export function accuracyAxis(frame, scale, title) {
  const taken = [];
  for (const step of [10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05]) {
    if (taken.length > 3) break;
    for (let i = 0; i <= Math.round(100 / step); i++) {
      const tick = Number((i * step).toFixed(2)), height = scale(tick / 100), y = frame.y(height);
      if (height <= 0 || height >= 1 || taken.some((other) => Math.abs(other - y) < 26)) continue;
      taken.push(y);
      frame.svg.append(drawn("line", { class: "grid", x1: frame.left, x2: frame.right, y1: y, y2: y }),
        drawn("text", { class: "tick", x: frame.left - 8, y: y + 4, "text-anchor": "end" }, String(tick)));
    }
  }
  frame.svg.append(drawn("title", {}, title));
}

/** Numbers below a plot, and what they are. @param {ReturnType<typeof plot>} frame
 * @param {{ at: number, text: string }[]} ticks of which those are written that fit */
export function lowerAxis(frame, ticks, title) {
  frame.svg.append(drawn("line", { class: "axis", x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom }));
  let last = -Infinity;
  for (const { at, text } of ticks) {
    const x = frame.x(at), half = textWidth(text) / 2;
    frame.svg.append(drawn("line", { class: "axis", x1: x, x2: x, y1: frame.bottom, y2: frame.bottom + 4 }));
    if (x - half < last + 8) continue;
    last = x + half;
    frame.svg.append(drawn("text", { class: "tick", x, y: frame.bottom + 18, "text-anchor": "middle" }, text));
  }
  frame.svg.append(drawn("text", { class: "tick", x: (frame.left + frame.right) / 2, y: frame.bottom + 38,
    "text-anchor": "middle" }, title));
}

/** Where names go that stand beside points: the first of several places that is free, or none.
 * @param {{ x: number, y: number, text: string }[]} points, the most important first
 * @param {{ left: number, width: number, top: number, bottom: number }} frame
 * @returns {({ x: number, y: number, anchor: string } | null)[]} */
export function placeNames(points, frame) {
  const boxes = points.map(({ x, y }) => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }));
  const isFree = (box) => box.left >= frame.left && box.right <= frame.width - 2 && box.top >= frame.top &&
    box.bottom <= frame.bottom && boxes.every((other) => box.right <= other.left || box.left >= other.right ||
      box.bottom <= other.top || box.top >= other.bottom);
  return points.map(({ x, y, text }) => {
    const width = textWidth(text);
    const places = [["start", 9, 4], ["end", -9, 4], ["middle", 0, -11], ["middle", 0, 19],
      ["start", 7, -8], ["end", -7, -8], ["start", 7, 16], ["end", -7, 16], ["middle", 0, -24], ["middle", 0, 32],
      ["end", -7, -22], ["start", 7, -22], ["end", -7, 30], ["start", 7, 30]];
    for (const [anchor, dx, dy] of /** @type {[string, number, number][]} */ (places)) {
      const left = x + dx - (anchor === "end" ? width : anchor === "middle" ? width / 2 : 0);
      const box = { left, right: left + width, top: y + dy - 11, bottom: y + dy + 3 };
      if (!isFree(box)) continue;
      boxes.push(box);
      return { x: x + dx, y: y + dy, anchor };
    }
    return null;
  });
}

/** Heights of names in a column, as near to the wanted ones as a distance between them allows;
 * null for those that do not fit. @param {number[]} wanted, the most important first
 * @param {number} top @param {number} bottom @param {number} gap */
export function spread(wanted, top, bottom, gap) {
  const most = Math.max(1, Math.floor((bottom - top) / gap) + 1);
  const order = wanted.map((y, i) => ({ y, i })).slice(0, most).sort((a, b) => a.y - b.y);
  let last = top - gap;
  for (const one of order) last = one.y = Math.max(one.y, last + gap);
  let next = bottom + gap;
  for (const one of order.reverse()) next = one.y = Math.min(one.y, next - gap);
  const heights = wanted.map(() => null);
  for (const { y, i } of order) heights[i] = y;
  return heights;
}
