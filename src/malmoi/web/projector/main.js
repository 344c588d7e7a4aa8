// The page: reads the scene, shows its spaces, and links what is chosen, hovered and circled.

import { aboutPanel, caption } from "./about_panel.js";
import { analogyPanel } from "./analogy_panel.js";
import { circledPanel } from "./circled_panel.js";
import { colourPanel } from "./colour_panel.js";
import { announce, byId, element } from "../shared/elements.js";
import { hitsPanel } from "./hits_panel.js";
import { awaitPicture } from "./improving.js";
import { pointPanel } from "./point_panel.js";
import { searchBox } from "./search_box.js";
import { findSource } from "./sections.js";
import { Space } from "./space.js";
import { createStore } from "./store.js";
import { say } from "./strings.js";
import { fillTexts } from "../shared/language.js";
import { beginTheme } from "../shared/theme.js";
import { toolbar } from "./toolbar.js";
import { View } from "./view.js";

const COLOURING = new Set(["colourBy", "hidden", "alone", "circled", "lit"]);

async function begin() {
  fillTexts(document, say);
  beginTheme();
  const source = findSource();
  const described = await source.describe();
  document.title = byId("title").textContent = described.title;
  const spaces = await Promise.all(
    described.spaces.map((space, i) => new Space(source, i, space).open()));
  const store = createStore(beginning(spaces));
  const actions = linked(spaces, store);
  const views = spaces.map((space) => new View(space, store, actions));
  const captions = spaces.map((space) => captionOf(space, store, spaces.length));
  const go = (space, row, key) => {
    if (row < 0 || row >= spaces[space].count) return actions.ask(key);
    actions.choose(space, row);
    views.forEach((view, i) => { if (store.state.chosen[i] >= 0) view.glideTo(store.state.chosen[i]); });
  };
  byId("panel").hidden = false;
  byId("stage").replaceChildren(...views.map((view, i) =>
    element("figure", {}, view.element, captions[i].element)));
  byId("stage").classList.toggle("two", spaces.length > 1);
  store.listen((changed) => {
    const recolour = [...changed].some((name) => COLOURING.has(name));
    for (const view of views) recolour ? view.recolour() : view.repaint();
  });
  hitsPanel(spaces, store, go, (rows) => views[0].showRows(rows));
  pointPanel(spaces, store, go);
  analogyPanel(spaces, store, go);
  circledPanel(spaces, store, go);
  colourPanel(spaces, store);
  aboutPanel(spaces);
  searchBox(spaces, (space, row, key) => { go(space, row, key); views[space].over.focus(); },
    described.searchable ? (question) => { store.set({ question: null }); store.set({ question }); } : null);
  modelChoice(described);
  toolbar(store, views, actions);
  announce(spaces.map((space) => say("pointsOf", space.name, space.count)).join(" "));
  const drawn = (now) => captions.forEach((caption) => caption.show(now.computing));
  drawn(described);
  document.documentElement.dataset.ready = "";
  await awaitPicture(source, spaces, described, (now) => {
    views.forEach((view) => view.replaced());
    aboutPanel(spaces);
    drawn(now);
    announce(say("drawnBy", spaces[0].described.reduction));
  });
}

/** The models that the server has, to choose from. */
function modelChoice({ models = [], title }) {
  const select = byId("model");
  select.hidden = models.length < 2;
  byId("title").hidden = !select.hidden;
  select.replaceChildren(...models.map(({ name }) => element("option", { value: name }, name)));
  select.value = title;
  select.addEventListener("change", () => location.assign(`?${new URLSearchParams({ model: select.value })}`));
}

/** @param {Space[]} spaces @returns {import("./store.js").State} */
function beginning(spaces) {
  const labelled = spaces[0].fields.find(({ kind }) => kind === "label") ?? spaces[0].fields[0]; // in order
  return {
    solid: false, circling: false, metric: spaces[0].described.metrics[0] ?? "cosine",
    asked: null, question: null, lit: spaces.map(() => null), chosen: spaces.map(() => -1), hovered: spaces.map(() => -1), nearby: spaces.map(() => []),
    circled: spaces.map(() => null), colourBy: labelled?.name ?? null, hidden: new Set(), alone: null,
  };
}

/** What happens in one space happens to the same points of the other.
 * @param {Space[]} spaces @returns {import("./view.js").Actions} */
function linked(spaces, store) {
  const alike = spaces.length > 1 && spaces[0].keys.join("\n") === spaces[1].keys.join("\n");
  /** The same point in every space: by row where the keys are the same, else by key. */
  const everywhere = (space, row) => spaces.map((other, i) =>
    i === space || row < 0 || alike ? row : other.find(spaces[space].keys[row]));
  const same = (a, b) => a.every((value, i) => value === b[i]);
  return {
    choose: (space, row) => store.set({ chosen: everywhere(space, row), asked: null }),
    ask: (key) => {
      const chosen = spaces.map((space) => space.find(key));
      store.set({ chosen, asked: chosen.some((row) => row >= 0) ? null : key });
    },
    hover: (space, row) => {
      const hovered = everywhere(space, row);
      if (!same(hovered, store.state.hovered)) store.set({ hovered });
    },
    circle: (space, rows) => {
      const circled = spaces.map(({ count }) => new Uint8Array(count));
      for (const row of rows) everywhere(space, row).forEach((at, i) => { if (at >= 0) circled[i][at] = 1; });
      store.set({ circled, circling: false });
      announce(say("pointsCircled", rows.length));
    },
  };
}

/** What stands below a picture. @param {Space} space @param {number} count of all spaces */
function captionOf(space, store, count) {
  const title = count > 1 ? [element("b", {}, space.name), " · "] : [];
  const made = element("figcaption");
  let computing = null; // a better picture
  const write = () => made.replaceChildren(
    ...title, caption(space, store.state.solid), computing ? say("computing", computing) : "");
  store.listen((changed) => { if (changed.has("solid")) write(); });
  return { element: made, show: (what) => { computing = what; write(); } };
}

begin().catch((error) => {
  const message = byId("message") ?? byId("stage").appendChild(element("p", { id: "message" }));
  message.setAttribute("role", "alert");
  message.textContent = error.message;
  document.documentElement.dataset.failed = "";
});
