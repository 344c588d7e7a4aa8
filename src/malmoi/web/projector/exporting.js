// The points of a selection as a file: TSV, JSON, or their vectors; made inside the browser.

import { element } from "../shared/elements.js";

const OWN = ["key", "x", "y", "x3", "y3", "z3", "details"]; // columns that every point has

/** What is known of some points. @param {import("./space.js").Space} space @param {number[]} rows */
export function records(space, rows) {
  return rows.map((row) => {
    const record = { key: space.keys[row] };
    ["x", "y"].forEach((axis, i) => { record[axis] = rounded(space.plane.raw(row, i)); });
    ["x3", "y3", "z3"].forEach((axis, i) => { record[axis] = rounded(space.solid.raw(row, i)); });
    for (const { name, kind, labels, values } of space.fields) {
      record[OWN.includes(name) ? `${name} (field)` : name] = kind === "label" ? labels[values[row]] ?? null : nullable(values, row);
    }
    if (space.details) record.details = space.details[row];
    return record;
  });
}

/** A table with a header; tabs and line ends inside a value become spaces.
 * @param {Record<string, unknown>[]} all */
export function toTsv(all) {
  const names = Object.keys(all[0] ?? { key: "" });
  const line = (values) => values.map((value) => String(value ?? "").replace(/[\t\r\n]+/gu, " ")).join("\t");
  return [line(names), ...all.map((record) => line(names.map((name) => record[name])))].join("\n") + "\n";
}

/** @param {Record<string, unknown>[]} all */
export function toJson(all) {
  return `${JSON.stringify(all, null, 1)}\n`;
}

/** The vectors of some points, as the page has them, a line of numbers each.
 * @param {import("./space.js").Space} space @param {number[]} rows */
export async function vectorLines(space, rows) {
  const { shape: [, dim] } = space.described.sections.coarse;
  const [bytes, scales] = await Promise.all([space.read("coarse"), space.read("scales")]);
  const line = (row) => Array.from(bytes.subarray(row * dim, (row + 1) * dim),
    (byte) => String(Number((byte * scales[row]).toPrecision(4)))).join("\t");
  return rows.map(line).join("\n") + "\n";
}

/** Hand a text over as a file. @param {string} name @param {string} text @param {string} type */
export function download(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function rounded(value) {
  return Number(value.toPrecision(6));
}

/** Whole numbers and doubles as they are; of others as many digits as they were kept with. */
function nullable(values, row) {
  const value = values[row];
  if (!Number.isFinite(value)) return null;
  return Number.isInteger(value) || values instanceof Float64Array ? value : rounded(value);
}
