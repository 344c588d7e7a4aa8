// What the picture is: how many points, by which reduction, and how far it can be believed.

import { byId, element } from "../shared/elements.js";
import { translated } from "./notes.js";
import { say } from "./strings.js";

/** @param {import("./space.js").Space[]} spaces */
export function aboutPanel(spaces) {
  byId("about").replaceChildren(element("h2", { id: "about-title" }, say("picture")),
    ...spaces.flatMap((space) => [
      ...(spaces.length > 1 ? [element("h4", {}, space.name)] : []),
      element("p", {}, sentence(space)),
      ...space.described.notes.map((note) => element("p", { class: "hint" }, translated(note))),
    ]));
}

/** In one line, below a picture. The share of neighbours kept is that of the flat one.
 * @param {import("./space.js").Space} space @param {boolean} solid */
export function caption(space, solid) {
  const { reduction, neighbour_preservation: kept } = space.described;
  if (solid) return say("solidCaption", space.count);
  const share = kept === null ? "" : say("keeps", percent(kept));
  return say("caption", space.count, reduction) + share;
}

function sentence({ name, count, described: { reduction, neighbour_preservation: kept } }) {
  const from = say("placedBy", count, name, reduction);
  return kept === null ? from : `${from} ${say("believe", percent(kept))}`;
}

function percent(share) {
  const value = 100 * share;
  return `${value >= 10 || value === 0 ? Math.round(value) : value.toPrecision(2)} %`;
}
