// Sections of data: from the page itself, or from the server that serves it; inflated.
// Knows nothing of what they mean.

import { say } from "./strings.js";

/**
 * @typedef {{type: string, shape: number[], bytes: number, [more: string]: any}} Described
 * @typedef {{live: boolean, describe: () => Promise<any>,
 *   read: (space: number, name: string) => Promise<Uint8Array>}} Source
 *     a server's description may change while it computes a better picture
 */

const ARRAYS = { uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int32: Int32Array,
  uint32: Uint32Array, float32: Float32Array, float64: Float64Array };

/** Data inside this page, or beside it on a server. @returns {Source} */
export function findSource() {
  return document.getElementById("scene") ? embedded() : served();
}

/** @returns {Source} */
function embedded() {
  return {
    live: false,
    describe: async () => JSON.parse(document.getElementById("scene").textContent),
    read: async (space, name) => {
      const element = document.getElementById(`section-${space}-${name}`);
      if (!element) throw new Error(say("missing"));
      const bytes = fromBase64(element.textContent);
      element.remove(); // it is read once, and may be large
      return bytes;
    },
  };
}

/** @returns {Source} */
function served() {
  let query = ""; // that goes with all requests: which model, which of its pictures
  const get = async (path) => {
    const answer = await fetch(path, { cache: "no-store" });
    if (!answer.ok) throw new Error(say("answersTo", answer.status, path));
    return answer;
  };
  return {
    live: true,
    describe: async () => {
      const described = await (await get(`scene.json${location.search}`)).json();
      query = described.query ? `?${described.query}` : "";
      return described;
    },
    read: async (space, name) =>
      new Uint8Array(await (await get(`sections/${space}/${name}${query}`)).arrayBuffer()),
  };
}

/** A section as a typed array or a list of strings; a damaged one is told by its name.
 * @param {Source} source @param {number} space @param {string} name @param {Described} described
 */
export async function readSection(source, space, name, described) {
  try {
    const raw = await inflate(await source.read(space, name));
    if (raw.byteLength !== described.bytes) {
      throw new Error(say("bytes", raw.byteLength, described.bytes));
    }
    if (described.type === "json") return JSON.parse(new TextDecoder().decode(raw));
    return new ARRAYS[described.type](raw);
  } catch (error) {
    throw new Error(say("damaged", name, error.message));
  }
}

/** @param {Uint8Array} bytes @returns {Promise<ArrayBuffer>} */
async function inflate(bytes) {
  const stream = new Blob([/** @type {any} */ (bytes)]).stream().pipeThrough(new DecompressionStream("deflate"));
  try {
    return await new Response(stream).arrayBuffer();
  } catch {
    throw new Error(say("unpacks"));
  }
}

/** @param {string} text @returns {Uint8Array} */
export function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
