// Elements made by name. Text is text: nothing here reads markup.

/** @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name @param {Record<string, string>} attributes
 * @param {...(Node | string)} children @returns {HTMLElementTagNameMap[Name]} */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The element with an id. @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

/** Said to those who listen instead of looking. @param {string} sentence */
export function announce(sentence) {
  byId("live").textContent = sentence;
}
