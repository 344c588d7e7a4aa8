// The search box: a list that follows what is typed, walked by arrows, also while Korean is composed.

import { byId, element, announce } from "../shared/elements.js";
import { shortened } from "./labels.js";
import { Finder } from "./search.js";
import { say } from "./strings.js";

const MOST = 12;

/** @param {import("./space.js").Space[]} spaces
 * @param {(space: number, row: number, key: string) => void} choose goes to a point, or where
 *   there is none and the row is -1 asks the server for the key
 * @param {((question: string) => void) | null} ask where the server searches texts */
export function searchBox(spaces, choose, ask) {
  const input = byId("search"), list = byId("found");
  let finders, found = [], active = -1;
  input.placeholder = say(ask ? "searchTexts" : spaces[0].source.live ? "searchWords" : "search");

  const show = () => {
    finders ??= spaces.map(({ keys, details }) =>
      ({ keys: new Finder(keys), details: details && new Finder(details) }));
    found = input.value.trim() ? search(spaces, finders, input.value) : [];
    const typed = input.value.trim().normalize("NFC");
    if (typed && ask) found.unshift({ space: 0, row: -1, key: typed });
    else if (spaces[0].source.live && typed && spaces.every((space) => space.find(typed) < 0)) {
      found.push({ space: 0, row: -1, key: typed });
    }
    active = found.length ? 0 : -1;
    const empty = element("li", { class: "none" }, say("nothingCalled", shortened(typed)));
    list.replaceChildren(...(found.length || !typed ? found.map(option) : [empty]));
    open(Boolean(typed));
    if (typed) announce(say("pointsFound", found.filter(({ row }) => row >= 0).length));
  };
  const option = ({ space, row, key }, i) => {
    if (row < 0) {
      return chosenBy(i, element("span", { class: "line" }, say(ask ? "askTexts" : "askModel", shortened(key))));
    }
    const { texts, details, keys, name } = spaces[space];
    if (texts) {
      return chosenBy(i, element("span", { class: "line text", dir: "auto" }, details[row]),
        element("span", { class: "id", dir: "auto" }, shortened(keys[row])));
    }
    const line = details?.[row];
    const made = chosenBy(i, element("span", { class: "key", dir: "auto" }, shortened(keys[row])));
    if (line) made.append(element("span", { class: "line", dir: "auto" }, line));
    else if (space > 0) made.append(element("span", { class: "line" }, say("onlyIn", name)));
    return made;
  };
  const chosenBy = (i, ...children) => {
    const selected = String(i === active);
    const made = element("li", { role: "option", id: `found-${i}`, "aria-selected": selected }, ...children);
    made.addEventListener("pointerdown", (event) => { event.preventDefault(); take(i); });
    return made;
  };
  const open = (wanted) => {
    list.hidden = !wanted;
    input.setAttribute("aria-expanded", String(wanted));
    if (wanted && active >= 0) input.setAttribute("aria-activedescendant", `found-${active}`);
    else input.removeAttribute("aria-activedescendant");
  };
  const walk = (by) => {
    if (!found.length) return;
    active = (active + by + found.length) % found.length;
    [...list.children].forEach((made, i) => made.setAttribute("aria-selected", String(i === active)));
    list.children[active].scrollIntoView({ block: "nearest" });
    open(true);
  };
  const take = (i) => {
    if (!found[i]) return;
    open(false);
    input.blur();
    const { space, row, key } = found[i];
    if (row < 0 && ask) ask(key);
    else choose(space, row, key);
  };

  input.addEventListener("input", show); // fires while a syllable is composed too
  input.addEventListener("focus", () => { if (input.value) show(); });
  input.addEventListener("blur", () => open(false));
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return; // Enter and arrows belong to the composition then
    if (event.key === "ArrowDown") walk(1);
    else if (event.key === "ArrowUp") walk(-1);
    else if (event.key === "Enter") take(active);
    else if (event.key === "Escape") { input.value = ""; open(false); input.blur(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/** Points by key, then by the lines beside them; of the second space what the first has not. */
function search(spaces, finders, typed) {
  const found = [];
  for (const part of ["keys", "details"]) {
    finders.forEach((finder, space) => {
      for (const row of finder[part]?.find(typed, MOST) ?? []) {
        const known = space > 0 && spaces[0].find(spaces[space].keys[row]) >= 0;
        if (!known && !found.some((one) => one.space === space && one.row === row)) found.push({ space, row });
      }
    });
  }
  return found.slice(0, MOST);
}
