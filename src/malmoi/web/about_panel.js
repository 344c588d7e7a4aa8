// What the picture is: how many points, by which reduction, and how far it can be believed.

import { byId, counted, element } from "./elements.js";

/** @param {import("./space.js").Space[]} spaces */
export function aboutPanel(spaces) {
  byId("about").replaceChildren(element("h2", { id: "about-title" }, "Picture"),
    ...spaces.flatMap((space) => [
      ...(spaces.length > 1 ? [element("h4", {}, space.name)] : []),
      element("p", {}, sentence(space)),
      ...space.described.notes.map((note) => element("p", { class: "hint" }, note)),
    ]));
}

/** In one line, below a picture. The share of neighbours kept is that of the flat one.
 * @param {import("./space.js").Space} space @param {boolean} solid */
export function caption(space, solid) {
  const { reduction, neighbour_preservation: kept } = space.described;
  if (solid) return `${counted(space.count, "point")} · in three dimensions`;
  const share = kept === null ? "" : ` · keeps ${percent(kept)} of neighbours`;
  return `${counted(space.count, "point")} · ${reduction}${share}`;
}

function sentence({ name, count, described: { reduction, neighbour_preservation: kept } }) {
  const from = `${counted(count, "point")} from ${name}, placed by ${reduction}. `;
  if (kept === null) return from;
  return `${from}In the plane ${percent(kept)} of a point’s nearest neighbours are still its nearest; ` +
    "the lists of neighbours are always those of the vectors themselves.";
}

function percent(share) {
  const value = 100 * share;
  return `${value >= 10 || value === 0 ? Math.round(value) : value.toPrecision(2)} %`;
}
