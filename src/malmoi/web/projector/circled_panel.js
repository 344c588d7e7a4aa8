// The points inside the lasso: how many, which, and as a file.

import { byId, element } from "../shared/elements.js";
import { download, records, toJson, toTsv, vectorLines } from "./exporting.js";
import { say } from "./strings.js";

const LISTED = 60;
const TSV = "text/tab-separated-values";

/** @param {import("./space.js").Space[]} spaces @param {import("./store.js").Store} store
 * @param {(space: number, row: number) => void} go */
export function circledPanel(spaces, store, go) {
  const panel = byId("circled");

  const show = () => {
    const sets = store.state.circled.map((mask) => (mask ? rowsOf(mask) : null));
    panel.hidden = sets.every((rows) => rows === null);
    if (panel.hidden) return;
    const clear = element("button", { type: "button" }, say("clear"));
    clear.addEventListener("click", () => store.set({ circled: spaces.map(() => null) }));
    panel.replaceChildren(element("div", { class: "row" }, element("h2", {}, say("circled")), clear),
      ...sets.flatMap((rows, i) => (rows ? circle(i, rows) : [])));
  };

  const circle = (i, rows) => {
    const space = spaces[i];
    const several = spaces.length > 1;
    if (!rows.length) {
      return [element("p", { class: "hint" }, several ? say("noneInsideOf", space.name) : say("noneInside"))];
    }
    const count = several ? say("countIn", rows.length, space.name) : say("points", rows.length);
    const keys = element("div", { class: "keys" }, ...rows.slice(0, LISTED).map((row) => {
      const button = element("button", { type: "button", dir: "auto" }, space.title(row));
      button.addEventListener("click", () => go(i, row));
      return button;
    }));
    const more = rows.length - LISTED;
    return [
      element("div", { class: "row" }, element("p", {}, count),
        exporter(space, rows, "TSV", "_metadata.tsv", TSV, () => toTsv(records(space, rows))),
        exporter(space, rows, "JSON", ".json", "application/json", () => toJson(records(space, rows))),
        ...("coarse" in space.described.sections ?
          [exporter(space, rows, say("vectors"), "_tensor.tsv", TSV, () => vectorLines(space, rows))] : [])),
      keys, ...(more > 0 ? [element("p", { class: "hint" }, say("more", more))] : []),
    ];
  };

  store.listen((changed) => { if (changed.has("circled")) show(); });
}

/** @param {string} ending of the file's name @param {() => string | Promise<string>} content */
function exporter(space, rows, title, ending, type, content) {
  const button = element("button", { type: "button", "aria-label": say("exportAs", title) }, title);
  const name = `${space.name.replace(/[^\p{L}\p{N}.-]+/gu, "-") || "points"}-${rows.length}${ending}`;
  button.addEventListener("click", async () => download(name, await content(), type));
  return button;
}

/** @param {Uint8Array} mask */
function rowsOf(mask) {
  const rows = [];
  mask.forEach((on, row) => { if (on) rows.push(row); });
  return rows;
}
