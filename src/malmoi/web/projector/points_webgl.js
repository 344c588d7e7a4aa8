// Points drawn by WebGL2, all in one call. Colours are bytes: red, green, blue, opacity;
// no opacity, no point. Knows nothing of what they mean.

import { say } from "./strings.js";

const VERTEX = `#version 300 es
in vec2 plane; in vec3 solid; in vec4 colour;
uniform float morph, distance, size, fog;
uniform vec3 target; uniform mat3 rotation; uniform vec2 focal;
out vec4 shade;
void main() {
  vec3 at = rotation * (mix(vec3(plane, 0.0), solid, morph) - target);
  float away = distance - at.z;
  float near = 0.02 * distance;
  bool drawn = colour.a > 0.0 && away > near;
  // The third number orders points by depth between the nearest and the farthest.
  gl_Position = drawn ? vec4(at.xy * focal, away - 2.0 * near, away) : vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = clamp(size * mix(1.0, distance / away, morph), 1.0, 64.0);
  float far = clamp((away - distance) / 1.6 + 0.35, 0.0, 1.0);
  shade = vec4(colour.rgb, colour.a * (1.0 - fog * far));
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 shade; uniform float edge; out vec4 painted;
void main() {
  float away = length(gl_PointCoord - 0.5) * 2.0;
  float alpha = shade.a * (1.0 - smoothstep(1.0 - edge, 1.0, away));
  if (alpha < 0.004) discard;
  painted = vec4(shade.rgb * alpha, alpha);
}`;

/** @param {HTMLCanvasElement} canvas
 * @param {import("./space.js").Space} space
 * @returns {import("./view.js").Painter | null} nothing where there is no WebGL2 */
export function webglPainter(canvas, space) {
  const gl = canvas.getContext("webgl2", { antialias: false, depth: true });
  if (!gl) return null;
  let made = prepare(gl, space);
  let colours = null;
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  const again = () => {
    made = prepare(gl, space);
    if (colours) fill(gl, made.colour, colours);
  };
  canvas.addEventListener("webglcontextrestored", () => {
    again();
    canvas.dispatchEvent(new Event("repaint"));
  });
  return {
    name: "webgl2",
    moved: again,
    colour(bytes) {
      colours = bytes;
      fill(gl, made.colour, bytes);
    },
    paint(camera, { morph, size, ratio }) {
      if (gl.isContextLost()) return;
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      const set = made.uniforms;
      gl.uniform1f(set.morph, morph);
      gl.uniform1f(set.distance, camera.distance);
      gl.uniform1f(set.size, size * ratio);
      gl.uniform1f(set.edge, Math.min(1, 1.6 / (size * ratio)));
      gl.uniform1f(set.fog, 0.75 * morph);
      gl.uniform3fv(set.target, camera.target);
      gl.uniformMatrix3fv(set.rotation, true, camera.rotation.flat());
      gl.uniform2f(set.focal, (2 * camera.focal) / camera.width, (2 * camera.focal) / camera.height);
      (morph > 0.5 ? gl.enable : gl.disable).call(gl, gl.DEPTH_TEST);
      gl.drawArrays(gl.POINTS, 0, space.count);
    },
  };
}

/** Program, buffers and uniforms of a new context. @param {WebGL2RenderingContext} gl */
function prepare(gl, space) {
  const program = gl.createProgram();
  const attach = (kind, text) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  };
  attach(gl.VERTEX_SHADER, VERTEX);
  attach(gl.FRAGMENT_SHADER, FRAGMENT);
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(say("shaders", gl.getProgramInfoLog(program)));
  }
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  fill(gl, attribute(gl, program, "plane", 2, gl.FLOAT), space.plane.values);
  fill(gl, attribute(gl, program, "solid", 3, gl.FLOAT), space.solid.values);
  const colour = attribute(gl, program, "colour", 4, gl.UNSIGNED_BYTE);
  const names = ["morph", "distance", "size", "edge", "fog", "target", "rotation", "focal"];
  const uniforms = Object.fromEntries(
    names.map((name) => [name, gl.getUniformLocation(program, name)]));
  return { colour, uniforms };
}

function attribute(gl, program, name, size, type) {
  const buffer = gl.createBuffer();
  const place = gl.getAttribLocation(program, name);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(place);
  gl.vertexAttribPointer(place, size, type, type === gl.UNSIGNED_BYTE, 0, 0);
  return buffer;
}

function fill(gl, buffer, values) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
}
