// A server draws a better picture in the background: asked for until it is there, then shown.

const EVERY = 2000; // milliseconds between two questions

/** @param {import("./sections.js").Source} source @param {import("./space.js").Space[]} spaces
 * @param {any} described as the server described the scene at first
 * @param {(described: any) => void} shown called with what the server says when it is done */
export async function awaitPicture(source, spaces, described, shown) {
  let now = described;
  while (now.computing) {
    await new Promise((done) => setTimeout(done, EVERY));
    try {
      now = await source.describe();
    } catch {
      return; // the server has gone: the first picture stays
    }
  }
  if (now === described) return;
  await Promise.all(spaces.map((space, i) => space.replace(now.spaces[i])));
  shown(now);
}
