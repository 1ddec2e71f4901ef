import { now } from "./state.mjs";

/** The time that charts show, in milliseconds. */
export const shown = { span: 60_000 };

/** @type {Record<string, string>} */
let colours = {};

// Canvases do not follow the colour scheme by themselves.
/** Reads the colours of the current scheme, light or dark. */
export function readColours() {
  const probe = document.createElement("i");
  document.body.append(probe);
  const names = ["starting", "idle", "running", "draining", "depth", "line", "muted"];
  colours = Object.fromEntries(
    names.map((name) => {
      probe.style.color = `var(--${name})`;
      return [name, getComputedStyle(probe).color];
    }),
  );
  probe.remove();
}

/**
 * Prepares a canvas for drawing in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 */
function prepare(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = window.devicePixelRatio || 1;
  const [pixels, rows] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== pixels || canvas.height !== rows) Object.assign(canvas, { width: pixels, height: rows });
  const context = canvas.getContext("2d");
  if (!context || width === 0) return undefined;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const end = now();
  const x = (/** @type {number} */ at) => width * Math.max(0, 1 - (end - at) / shown.span);
  return { context, width, height, x, start: end - shown.span, end };
}

/**
 * Draws how many jobs waited over time, as steps.
 * @param {HTMLCanvasElement} canvas
 * @param {readonly (readonly [at: number, waiting: number])[]} points
 */
export function drawDepth(canvas, points) {
  const area = prepare(canvas);
  if (!area) return;
  const { context, width, height, x, start } = area;
  const first = Math.max(
    0,
    points.findLastIndex(([at]) => at <= start),
  );
  const visible = points.slice(first);
  const most = Math.max(1, ...visible.map(([, waiting]) => waiting));
  const y = (/** @type {number} */ waiting) => height - 1 - ((height - 14) * waiting) / most;
  const begin = x(visible[0]?.[0] ?? start);
  context.beginPath();
  context.moveTo(begin, height);
  let level = visible[0]?.[1] ?? 0;
  for (const [at, waiting] of visible) {
    context.lineTo(x(at), y(level));
    context.lineTo(x(at), y(waiting));
    level = waiting;
  }
  context.lineTo(width, y(level));
  context.lineTo(width, height);
  context.fillStyle = colours.depth ?? "blue";
  context.globalAlpha = 0.25;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = colours.depth ?? "blue";
  context.stroke();
  context.fillStyle = colours.muted ?? "grey";
  context.font = "10px system-ui, sans-serif";
  context.fillText(visible.some(([, waiting]) => waiting > 0) ? `${most} waiting at most` : "none waited", 2, 9);
}

/**
 * Draws the states of a worker over time.
 * @param {HTMLCanvasElement} canvas
 * @param {import("./state.mjs").Lane} lane
 */
export function drawLane(canvas, { states, goneAt }) {
  const area = prepare(canvas);
  if (!area) return;
  const { context, width, height, x, start, end } = area;
  context.fillStyle = colours.line ?? "grey";
  context.fillRect(0, height / 2 - 0.5, width, 1);
  for (let index = states.length - 1; index >= 0; index--) {
    const [at, name] = /** @type {[number, string]} */ (states[index]);
    const until = states[index + 1]?.[0] ?? goneAt ?? end;
    if (until < start) break;
    const left = x(at);
    context.fillStyle = colours[name] ?? "grey";
    const inset = name === "idle" ? 3 : 0;
    context.fillRect(left, inset, Math.max(0.75, x(until) - left), height - 2 * inset);
  }
}
