// Pointers, wheel and keys over a picture, told as what they mean. Knows nothing of points.

const CLICK = 5; // pixels that a click may wander
const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const STRIDE = 48; // pixels an arrow key moves

/**
 * @typedef {{move: (dx: number, dy: number, other: boolean) => void,
 *   zoom: (factor: number, x?: number, y?: number) => void, hover: (x: number, y: number) => void,
 *   leave: () => void, click: (x: number, y: number) => void, middle: () => void,
 *   circling: () => boolean, circle: (path: number[][], done: boolean) => void}} Meanings
 */

/** @param {HTMLElement} element @param {Meanings} meanings */
export function listen(element, meanings) {
  listenToPointers(element, meanings);
  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const speed = event.ctrlKey ? 0.01 : 0.0016; // pinching a touchpad turns the wheel slowly
    meanings.zoom(Math.exp(-event.deltaY * lines * speed), ...at(element, event));
  }, { passive: false });
  element.addEventListener("dblclick", (event) => meanings.zoom(2, ...at(element, event)));
  element.addEventListener("contextmenu", (event) => event.preventDefault());
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (arrow) meanings.move(arrow[0] * STRIDE, arrow[1] * STRIDE, event.shiftKey);
    else if (event.key === "+" || event.key === "=") meanings.zoom(1.3);
    else if (event.key === "-" || event.key === "_") meanings.zoom(1 / 1.3);
    else if (event.key === "Enter" || event.key === " ") meanings.middle();
    else return;
    event.preventDefault();
  });
}

/** @param {HTMLElement} element @param {Meanings} meanings */
function listenToPointers(element, meanings) {
  const down = new Map(); // pointers that touch, each with where it is
  let path = null, wandered = 0;
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at(element, event));
    if (down.size === 1) wandered = 0;
    path = down.size === 1 && meanings.circling() ? [at(element, event)] : null;
  });
  element.addEventListener("pointermove", (event) => {
    const here = at(element, event), before = down.get(event.pointerId);
    if (!before) return meanings.hover(...here);
    const [dx, dy] = [here[0] - before[0], here[1] - before[1]];
    wandered += Math.hypot(dx, dy);
    const apart = spread(down);
    down.set(event.pointerId, here);
    if (down.size === 2) {
      meanings.zoom(spread(down) / apart, ...centre(down));
      meanings.move(dx / 2, dy / 2, true);
    } else if (path) {
      path.push(here);
      meanings.circle(path, false);
    } else if (wandered > CLICK) {
      meanings.move(dx, dy, event.shiftKey || event.buttons === 2);
    }
  });
  const lift = (event) => {
    if (!down.delete(event.pointerId)) return;
    if (path) meanings.circle(event.type === "pointerup" ? path : [], true);
    else if (wandered <= CLICK && event.type === "pointerup") meanings.click(...at(element, event));
    path = null;
  };
  element.addEventListener("pointerup", lift);
  element.addEventListener("pointercancel", lift);
  element.addEventListener("pointerleave", () => meanings.leave());
}

/** Where an event is in an element, in pixels.
 * @param {Element} element @param {MouseEvent} event @returns {[number, number]} */
function at(element, event) {
  const { left, top } = element.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
}

function centre(down) {
  const all = [...down.values()];
  return [0, 1].map((axis) => all.reduce((sum, place) => sum + place[axis], 0) / all.length);
}

function spread(down) {
  const [a, b] = down.values();
  return b ? Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1])) : 1;
}
