// Points written into an image byte by byte, where there is no WebGL2.

/** @param {HTMLCanvasElement} canvas
 * @param {import("./space.js").Space} space
 * @returns {import("./view.js").Painter} */
export function canvasPainter(canvas, space) {
  const context = canvas.getContext("2d");
  /** @type {Uint8Array} */
  let colours = new Uint8Array(4 * space.count);
  return {
    name: "canvas",
    moved() {}, // it is told where points are on the screen
    colour(bytes) {
      colours = bytes;
    },
    paint(camera, { morph, size, ratio, screen }) {
      const image = context.createImageData(canvas.width, canvas.height);
      const order = morph > 0.5 ? farthestFirst(screen.depth) : null;
      for (let i = 0; i < space.count; i++) {
        const row = order ? order[i] : i;
        if (!(screen.x[row] >= 0 && screen.y[row] >= 0) || !colours[4 * row + 3]) continue;
        const side = size * (morph ? camera.distance / screen.depth[row] : 1);
        square(image, screen.x[row] * ratio, screen.y[row] * ratio, side * ratio, colours, 4 * row);
      }
      context.putImageData(image, 0, 0);
    },
  };
}

/** A square of pixels laid over what is there.
 * @param {ImageData} image @param {Uint8Array} colours @param {number} from its colour */
function square({ data, width, height }, x, y, side, colours, from) {
  const half = Math.max(0.5, Math.min(side, 24) * 0.44);
  const [left, right] = [Math.max(0, Math.round(x - half)), Math.min(width, Math.round(x + half))];
  const [top, bottom] = [Math.max(0, Math.round(y - half)), Math.min(height, Math.round(y + half))];
  const over = colours[from + 3] / 255;
  for (let py = top; py < bottom; py++) {
    for (let px = left, at = 4 * (py * width + left); px < right; px++, at += 4) {
      const under = (data[at + 3] / 255) * (1 - over);
      const both = over + under;
      for (let c = 0; c < 3; c++) data[at + c] = (colours[from + c] * over + data[at + c] * under) / both;
      data[at + 3] = 255 * both;
    }
  }
}

/** Rows in the order in which they may be painted over each other. @param {Float32Array} depth */
function farthestFirst(depth) {
  return Uint32Array.from(depth.keys()).sort((a, b) => depth[b] - depth[a]);
}
