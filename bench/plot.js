const { escaped, svg } = require("../tools/svg");
const { figures, reaches, spread } = require("./runner");

/** @typedef {import("./runner").Row} Row */

const LINE = 38;
const LABELS = 352;
const VALUES = 64;
const WIDTH = 1000;
const TOP = 84;
/** The ends of the axis. Ratios beyond them are drawn there. */
const SMALLEST = 1 / 4;
const LARGEST = 8;
const TICKS = [1 / 4, 1 / 2, 1, 2, 4, 8];

/** Colors, each with a contrast of at least 4.5 against the background. */
const LIGHT = {
  back: "#ffffff",
  text: "#1f2328",
  faint: "#57606a",
  good: "#1a7f37",
  missed: "#cf222e",
  mark: "#8a5a00",
};
const DARK = {
  back: "#0d1117",
  text: "#e6edf3",
  faint: "#9198a1",
  good: "#3fb950",
  missed: "#ff7b72",
  mark: "#d29922",
};

/**
 * Draws the rows that are ratios as an SVG picture: for each row a line from min to max, a dot at
 * the median, and its mark. Further right is better, so times and sizes, where less is better, are
 * drawn as their inverse.
 * @param {readonly Row[]} rows
 */
function plot(rows) {
  const ratios = rows.filter(({ judged }) => judged === "ratio");
  const bottom = TOP + ratios.length * LINE;
  const height = bottom + 34;
  const facts = {
    width: WIDTH,
    height,
    title: "Each figure relative to its floor or peer",
    description: ratios.map(described).join(" "),
    style: [
      styleOf(LIGHT),
      `@media (prefers-color-scheme: dark) { ${styleOf(DARK)} }`,
      ".small { font-size: 12px } .tick, .axis { text-anchor: middle } .value { text-anchor: end }",
    ].join("\n"),
    attributes: ' font-family="sans-serif" font-size="13"',
  };
  return svg(facts, [
    `<rect class="back" width="${WIDTH}" height="${height}" rx="6"/>`,
    ...legend(),
    ...TICKS.map((ratio) => tick(ratio, bottom)),
    ...ratios.map(drawRow),
    `<text class="axis faint" x="${(x(SMALLEST) + x(LARGEST)) / 2}" y="${bottom + 22}">${escaped(AXIS)}</text>`,
  ]);
}

const CHECKS_AND_EMULATOR = "the checks of arguments, and the emulator on the same processors";

/**
 * The reasons for missed marks, by the beginning of `what`, in a few words. The README has more.
 * @type {readonly (readonly [what: string, reason: string])[]}
 */
const REASONS = [
  ["client: /status", "retries, limits, redaction and checks of each response, spread over many functions"],
  ["emulator: /status, 64 in flight, its page", "what the page shows is computed on the same processors"],
  ["emulator: /status", "the other does nothing; three quarters of the time are the kernel's write of the response"],
  ["up of", CHECKS_AND_EMULATOR],
  ["update of", CHECKS_AND_EMULATOR],
  ["destroy", "it sends 600 requests and reads lists, to verify that pods and endpoints are gone"],
  ["preview", "the checks of all arguments in two processes"],
  ["time for each endpoint", "lists of endpoints grow with their number"],
  ["plugin: state", "Pulumi's stack frames, which the dynamic form leaves out, and lists instead of text"],
  ["plugin:", "a larger state, which the engine writes at each step, and the emulator on the same processors"],
];

const AXIS = "times as fast as the other, as small, or as many per second (logarithmic): right is better";

/** @param {typeof LIGHT} colors */
function styleOf({ back, text, faint, good, missed, mark }) {
  return (
    `.back { fill: ${back} } text { fill: ${text} } text.faint, .tick { fill: ${faint} } text.missed { fill: ${missed} } .note { paint-order: stroke; stroke: ${back}; stroke-width: 4px } ` +
    `.grid { stroke: ${faint}; stroke-opacity: .3 } .one { stroke: ${faint} } .mark { stroke: ${mark}; stroke-width: 3 } ` +
    `.dot.good { fill: ${good} } .dot.missed { fill: ${missed} } ` +
    `.range { stroke-width: 3 } .range.good { stroke: ${good} } .range.missed { stroke: ${missed} }`
  );
}

function legend() {
  const y = 24;
  const entry = (/** @type {number} */ at, /** @type {string} */ sign, /** @type {string} */ text) =>
    `<g transform="translate(${at} ${y})">${sign}<text x="36" y="4">${text}</text></g>`;
  const range = (/** @type {string} */ kind) =>
    `<line class="range ${kind}" x1="0" x2="28" y1="0" y2="0"/><circle class="dot ${kind}" cx="14" cy="0" r="5"/>`;
  return [
    entry(20, range("good"), "median, and all runs: reaches its mark"),
    entry(330, range("missed"), "misses its mark"),
    entry(510, '<line class="mark" x1="14" x2="14" y1="-8" y2="8"/>', "its mark: the dot is to be right of it"),
  ];
}

/**
 * @param {number} ratio
 * @param {number} bottom
 */
function tick(ratio, bottom) {
  const label = ratio === 1 ? "1 × (equal)" : `${ratio} ×`;
  return (
    `<line class="${ratio === 1 ? "one" : "grid"}" x1="${x(ratio)}" x2="${x(ratio)}" y1="${TOP - 14}" y2="${bottom}"/>` +
    `<text class="tick small" x="${x(ratio)}" y="${TOP - 20}">${label}</text>`
  );
}

/**
 * @param {Row} row
 * @param {number} index
 */
function drawRow(row, index) {
  const y = TOP + index * LINE + 10;
  const { min, median, max } = spread(drawn(row));
  const kind = reaches(row) ? "good" : "missed";
  const mark = x(markOf(row));
  const reason = REASONS.find(([what]) => row.what.startsWith(what))?.[1] ?? "see below";
  const note = reaches(row) ? "" : `missed: ${reason}`;
  return [
    `<text class="label" x="16" y="${y + 1}">${escaped(row.what)}</text>`,
    `<text class="label small faint" x="16" y="${y + 17}">against ${escaped(row.against ?? "")}</text>`,
    `<line class="mark" x1="${mark}" x2="${mark}" y1="${y - 8}" y2="${y + 10}"/>`,
    `<line class="range ${kind}" x1="${x(min)}" x2="${x(max)}" y1="${y + 1}" y2="${y + 1}"/>`,
    `<circle class="dot ${kind}" cx="${x(median)}" cy="${y + 1}" r="5"/>`,
    `<text class="value ${kind}" x="${WIDTH - 16}" y="${y + 5}">${median.toFixed(2)} ×</text>`,
    note && `<text class="note small missed" x="${LABELS}" y="${y + 21}">${escaped(note)}</text>`,
  ].join("");
}

/**
 * The figures of a row, converted so that larger is better.
 * @param {Row} row
 */
function drawn(row) {
  return "atLeast" in row.mark ? figures(row) : figures(row).map((ratio) => 1 / ratio);
}

/** @param {Row} row */
function markOf({ mark }) {
  return "atLeast" in mark ? mark.atLeast : 1 / mark.atMost;
}

/** @param {Row} row */
function described(row) {
  const { median } = spread(drawn(row));
  return `${row.what}, against ${row.against}: ${median.toFixed(2)}, mark ${markOf(row).toFixed(2)}.`;
}

/**
 * The place of a ratio on the logarithmic axis.
 * @param {number} ratio
 */
function x(ratio) {
  const inside = Math.min(LARGEST, Math.max(SMALLEST, ratio));
  const share = Math.log(inside / SMALLEST) / Math.log(LARGEST / SMALLEST);
  return Math.round(LABELS + 24 + share * (WIDTH - LABELS - VALUES - 64));
}

module.exports = { plot, DARK, LIGHT, LABELS };
