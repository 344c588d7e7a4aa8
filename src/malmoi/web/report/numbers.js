// Numbers as people read them.

const THIN = "\u2009"; // a thin space
const NONE = "–";
const FOCUS = 2.5; // times the errors of the best

/** A share as percent, without its sign. @param {number | null} share @param {number} digits */
export function percent(share, digits = 2) {
  return share === null ? NONE : (100 * share).toFixed(digits);
}

/** A difference of shares in points, with its sign. @param {number} share */
export function signed(share, digits = 2) {
  const text = Math.abs(100 * share).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${share < 0 ? "−" : "+"}${text}`;
}

/** Three digits, and commas between thousands. @param {number | null} value */
export function short(value) {
  if (value === null) return NONE;
  if (value === 0) return "0";
  if (Math.abs(value) >= 100) return Number(value.toPrecision(3)).toLocaleString("en");
  if (Math.abs(value) < 0.01) return "< 0.01";
  return String(Number(value.toPrecision(Math.abs(value) < 1 ? 2 : 3)));
}

/** Bytes as kB, MB or GB. @param {number} bytes */
export function readableSize(bytes) {
  const units = ["kB", "MB", "GB"];
  const at = bytes >= 1e9 ? 2 : bytes >= 1e6 ? 1 : 0;
  if (bytes < 1000) return `< 1${THIN}kB`;
  const value = bytes / 1000 ** (at + 1);
  return `${at ? value.toFixed(1) : Math.round(value)}${THIN}${units[at]}`;
}

/** Seconds as minutes and seconds. @param {number} seconds */
export function duration(seconds) {
  if (seconds < 60) return `${short(seconds)}${THIN}s`;
  const whole = Math.round(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return ["h", "min", "s"].map((unit, i) => parts[i] ? `${parts[i]}${THIN}${unit}` : "").filter(Boolean).join(" ");
}

/** The models that plots are made for: those with at most two and a half times the errors of the best. Others,
 * such as always the same label, would press these together; they are at the lower edge.
 * @template {{ accuracy: { value: number | null } }} Model @param {Model[]} models @returns {Model[]} */
export function comparable(models) {
  const errors = models.map(({ accuracy }) => accuracy.value === null ? 1 : 1 - accuracy.value);
  const limit = FOCUS * Math.max(Math.min(...errors), 0.01);
  const near = models.filter((_, i) => errors[i] <= limit);
  return near.length > 1 ? near : models;
}

/** A scale on which equal steps divide the errors by an equal factor: from 0, the lowest share of
 * `shares` or less, to 1, the highest. @param {number[]} shares
 * @param {number} least error that is told apart @returns {(share: number) => number} */
export function errorScale(shares, least) {
  const height = (share) => -Math.log(Math.max(1 - share, least));
  const heights = shares.map(height);
  const [low, high] = [Math.min(...heights), Math.max(...heights)];
  const margin = 0.06 * (high - low) || 0.1;
  return (share) => Math.max(0, (height(share) - low + margin) / (high - low + 2 * margin));
}
