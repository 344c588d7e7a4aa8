// The language of a page: English, or Korean where the browser asks for it.
// A page has a table of its own strings, and one for the sentences that Python writes.

const LANGUAGES = ["en", "ko"];

/** The first language of the browser that the pages speak. @returns {"en" | "ko"} */
export function language() {
  const wanted = (navigator.languages ?? [navigator.language]).map((one) => one.slice(0, 2).toLowerCase());
  return /** @type {"en" | "ko"} */ (wanted.find((one) => LANGUAGES.includes(one)) ?? "en");
}

/** What says a page's strings by their names: texts, or functions of what varies in them.
 * @param {Record<"en" | "ko", Record<string, any>>} strings
 * @returns {(name: string, ...values: (string | number)[]) => string} */
export function speaker(strings) {
  return (name, ...values) => {
    const said = strings[language()][name];
    return typeof said === "function" ? said(...values) : said;
  };
}

/** Fill in the texts of the page's own elements, which name them: data-say="help",
 * data-say-title="help". @param {Document} page @param {(name: string) => string} say */
export function fillTexts(page, say) {
  page.documentElement.lang = language();
  for (const element of page.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  for (const attribute of ["title", "aria-label", "placeholder"]) {
    for (const element of page.querySelectorAll(`[data-say-${attribute}]`)) {
      element.setAttribute(attribute, say(element.getAttribute(`data-say-${attribute}`)));
    }
  }
}

/** What translates sentences of Python's by their English form, of which {} stands for what
 * varies; a text that is not in the table is of the user's own and stays as it is.
 * @param {Record<string, string>} korean @returns {(text: string, to?: string) => string} */
export function translator(korean) {
  const patterns = Object.entries(korean).filter(([form]) => form.includes("{}")).map(([form, own]) =>
    ({ own, pattern: new RegExp(`^${form.replace(/[.()|]/gu, "\\$&").replaceAll("{}", "(.+?)")}$`, "u") }));
  return (text, to = language()) => {
    if (to !== "ko") return text;
    if (Object.hasOwn(korean, text)) return korean[text];
    for (const { pattern, own } of patterns) {
      const [, ...values] = text.match(pattern) ?? [];
      if (!values.length) continue;
      let at = 0;
      return own.replace(/\{(\d?)\}/gu, (_, place) => values[place === "" ? at++ : Number(place)]);
    }
    return text;
  };
}
