// What is drawn over the points: names, rings, lines to neighbours, ranks of hits, the lasso.

import { Ground, placeLabels, shortened } from "./labels.js";
import { styled } from "../shared/theme.js";

const FONTS = 'system-ui, -apple-system, "Segoe UI", "Apple SD Gothic Neo", "Malgun Gothic", ' +
  '"Noto Sans KR", "Noto Sans CJK KR", NanumGothic, sans-serif';
const SMALL = `12px ${FONTS}`, STRONG = `600 13px ${FONTS}`, ISLAND = `600 14px ${FONTS}`,
  RANK = `600 11px ${FONTS}`;
const BADGE = 9; // pixels from the middle of a rank to its edge
const RARE = 0.05, SEVERAL = 500; // rows past this share, and past so many, are written softly
const widths = new Map(); // of names in the small font

/**
 * @param {CanvasRenderingContext2D} context in pixels of the page
 * @param {import("./view.js").View} view
 */
export function drawOverlay(context, view) {
  const { camera, screen, space, size } = view;
  context.clearRect(0, 0, camera.width, camera.height);
  const pen = { context, screen, ground: new Ground(camera.width, camera.height), gap: size / 2 + 4,
    radius: Math.max(6, size / 2 + 3), ink: styled("ink"), soft: styled("soft"), rest: styled("rest"),
    paper: styled("paper"), accent: styled("accent"), ranked: view.marks.lit ?? new Map(),
    plate: space.texts };
  const { chosen, hovered, nearby, lit } = view.marks;
  if (chosen >= 0) lines(pen, chosen, nearby);
  const hits = lit ? [...lit].sort((a, b) => a[1] - b[1]) : []; // best first
  for (const [row, rank] of [...hits].reverse()) badge(pen, row, rank);
  const first = new Set([chosen, hovered].filter((row) => row >= 0));
  for (const row of first) ring(pen, row);
  const named = new Set(first); // each is named once
  if (!space.alike) { // a name that all points have says nothing
    for (const row of first) name(pen, row, space.label(row), camera);
    for (const row of [...hits.map(([hit]) => hit), ...nearby]) {
      if (!named.has(row) && name(pen, row, space.label(row))) named.add(row);
    }
  }
  if (!view.store.state.solid) for (const island of view.islands) islandName(pen, island, camera);
  if (!space.alike && !lit) names(pen, view, named);
  if (view.path.length) lasso(pen, view.path);
}

/** The names of points that nobody chose, where there is room. */
function names(pen, { camera: { width, height, scale, target }, screen, space, marks }, named) {
  const { chosen, circled } = marks;
  const among = circled ? { ...screen, x: screen.x.map((x, row) => (circled[row] ? x : NaN)) } : screen;
  const origin = [width / 2 - target[0] * scale, height / 2 + target[1] * scale];
  const shape = { width, height, line: 16, gap: pen.gap, origin, named, texts: space.texts };
  pen.context.font = SMALL;
  const widthOf = (text) => wide(pen.context, text);
  for (const label of placeLabels(among, pen.ground, (row) => space.label(row), widthOf, shape)) {
    const rare = space.texts || (label.row > space.count * RARE && label.row > SEVERAL);
    const ink = chosen >= 0 ? pen.rest : rare ? pen.soft : pen.ink;
    write({ ...pen, ink }, label.text, label.x, label.y);
  }
}

function wide(context, text) {
  if (!widths.has(text)) widths.set(text, context.measureText(text).width);
  return widths.get(text);
}

/** Text with a halo of paper, so that it is read over points; long ones on a plate of paper. */
function write({ context, ink, paper, halo = 3.5, plate }, text, x, y) {
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = halo;
  context.strokeStyle = context.fillStyle = paper;
  if (plate) {
    context.globalAlpha = 0.78;
    context.beginPath();
    context.roundRect(x - 4, y - 9, context.measureText(text).width + 8, 18, 6);
    context.fill();
    context.globalAlpha = 1;
  } else context.strokeText(text, x, y);
  context.fillStyle = ink;
  context.fillText(text, x, y);
}

/** The name of one point, on its right or on its left; whether there was room. With a picture
 * to stay in, it is written anyway. */
function name(pen, row, key, picture = null) {
  const at = pen.screen.x[row], y = pen.screen.y[row];
  if (!Number.isFinite(at)) return false;
  pen.context.font = STRONG;
  const text = shortened(key), width = pen.context.measureText(text).width;
  const gap = pen.ranked.has(row) ? BADGE + 9 : picture ? pen.radius + 5 : pen.gap;
  const sides = [at + gap, at - gap - width];
  const free = sides.find((x) => pen.ground.take(x, y - 8, width, 16));
  const beyond = picture && at < picture.width && sides[0] + width > picture.width;
  const x = free ?? (beyond ? Math.max(4, sides[1]) : sides[0]);
  if (free === undefined && picture) pen.ground.claim(x, y - 8, width, 16);
  if (free !== undefined || picture) write(pen, text, x, y);
  return free !== undefined;
}

/** The name of many points together, in their middle. */
function islandName(pen, { text, place: [px, py], ink }, { width: w, height: h, scale, target }) {
  const x = w / 2 + (px - target[0]) * scale, y = h / 2 - (py - target[1]) * scale;
  pen.context.font = ISLAND;
  const width = pen.context.measureText(text).width;
  if (!pen.ground.take(x - width / 2, y - 9, width, 18)) return;
  write({ ...pen, ink, halo: 6 }, text, x - width / 2, y);
}

function lines({ context, screen, accent }, from, rows) {
  context.strokeStyle = accent;
  context.lineWidth = 1;
  context.globalAlpha = 0.55;
  context.beginPath();
  for (const row of rows) {
    if (!Number.isFinite(screen.x[row]) || !Number.isFinite(screen.x[from])) continue;
    context.moveTo(screen.x[from], screen.y[from]);
    context.lineTo(screen.x[row], screen.y[row]);
  }
  context.stroke();
  context.globalAlpha = 1;
  context.fillStyle = accent;
  for (const row of rows) {
    context.beginPath();
    context.arc(screen.x[row], screen.y[row], 3, 0, 2 * Math.PI);
    context.fill();
  }
}

function ring({ context, screen, accent, paper, radius, ranked }, row) {
  if (!Number.isFinite(screen.x[row])) return;
  const around = ranked.has(row) ? BADGE + 4 : radius;
  for (const [colour, width] of [[paper, 4.5], [accent, 2]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.arc(screen.x[row], screen.y[row], around, 0, 2 * Math.PI);
    context.stroke();
  }
}

/** The rank of a hit in a disc. */
function badge({ context, screen, accent, paper, ground }, row, rank) {
  const x = screen.x[row], y = screen.y[row];
  if (!Number.isFinite(x)) return;
  ground.claim(x - BADGE, y - BADGE, 2 * BADGE, 2 * BADGE);
  context.beginPath();
  context.arc(x, y, BADGE, 0, 2 * Math.PI);
  context.fillStyle = accent;
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = context.fillStyle = paper;
  context.stroke();
  context.font = RANK;
  context.textBaseline = "middle";
  context.fillText(String(rank), x - context.measureText(String(rank)).width / 2, y + 0.5);
}

function lasso({ context, accent }, path) {
  context.beginPath();
  for (const [x, y] of path) context.lineTo(x, y);
  context.closePath();
  context.fillStyle = context.strokeStyle = accent;
  context.globalAlpha = 0.1;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.setLineDash([5, 4]);
  context.stroke();
  context.setLineDash([]);
}
