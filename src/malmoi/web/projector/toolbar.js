// The buttons above the picture, and the keys that press them from anywhere.

import { byId } from "../shared/elements.js";
import { switchTheme } from "../shared/theme.js";

/** @param {import("./view.js").View[]} views @param {import("./view.js").Actions} actions */
export function toolbar(store, views, actions) {
  const fit = () => views.forEach((view) => view.fit());
  const dimensions = (solid) => { store.set({ solid }); fit(); };
  const circling = () => store.set({ circling: !store.state.circling });
  const clear = () => store.set({
    circling: false, alone: null, asked: null, question: null, lit: views.map(() => null), chosen: views.map(() => -1), nearby: views.map(() => []),
    circled: views.map(() => null),
  });
  const inView = () => {
    const at = Math.max(0, views.findIndex(({ element }) => element.contains(document.activeElement)));
    actions.circle(at, views[at].visible());
  };
  const help = () => byId("helping").showModal();

  const clicked = { flat: () => dimensions(false), solid: () => dimensions(true), fit, lasso: circling,
    theme: switchTheme, help };
  for (const [id, act] of Object.entries(clicked)) byId(id).addEventListener("click", act);

  const keys = { 0: fit, 2: clicked.flat, 3: clicked.solid, l: circling, v: inView, "?": help,
    "/": () => { byId("search").focus(); byId("search").select(); }, Escape: clear };
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.matches("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if ((typing && event.key !== "Escape") || byId("helping").open) return;
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  const show = () => {
    byId("flat").setAttribute("aria-pressed", String(!store.state.solid));
    byId("solid").setAttribute("aria-pressed", String(store.state.solid));
    byId("lasso").setAttribute("aria-pressed", String(store.state.circling));
    byId("stage").classList.toggle("circling", store.state.circling);
  };
  store.listen(show);
  show();
}
