// Light or dark: as the system says until somebody says otherwise; and the colours of each.

/** The theme that is seen. @returns {"light" | "dark"} */
export function theme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen === "dark" ? "dark" : "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** The other theme from now on; remembered where the browser allows it. */
export function switchTheme() {
  document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("theme", theme());
  } catch { /* a page on disk may not be allowed to remember */ }
  dispatchEvent(new Event("themechange"));
}

/** Begin as it was left, and follow the system. */
export function beginTheme() {
  try {
    const kept = localStorage.getItem("theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch { /* as above */ }
  matchMedia("(prefers-color-scheme: dark)")
    .addEventListener("change", () => dispatchEvent(new Event("themechange")));
}

/** A colour of the style sheet, as it is in this theme. @param {string} name */
export function styled(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Whether things should move by themselves. */
export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
