const { figures, reaches, spread } = require("./runner");
const { showMark } = require("./table");

/** @typedef {import("./runner").Row} Row */

const LINE = 22;
const LABELS = 430;
const WIDTH = 1000;
const TOP = 34;
/** The ends of the axis. Ratios beyond them are drawn there. */
const SMALLEST = 1 / 4;
const LARGEST = 8;

/**
 * The rows that are ratios, as an SVG picture: each a line from min to max with a dot at the median, and its mark.
 * @param {readonly Row[]} rows
 */
function plot(rows) {
  const ratios = rows.filter(({ judged }) => judged === "ratio");
  const height = TOP + ratios.length * LINE + 12;
  const ticks = [1 / 4, 1 / 2, 1, 2, 4, 8].map(
    (ratio) =>
      `<line class="${ratio === 1 ? "one" : "grid"}" x1="${x(ratio)}" x2="${x(ratio)}" y1="${TOP - 8}" y2="${height - 8}"/>` +
      `<text class="tick" x="${x(ratio)}" y="${TOP - 14}">${ratio} ×</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="sans-serif" font-size="12">`,
    "<title>Each figure over its floor or peer</title>",
    "<style>",
    "text { fill: #57606a } .tick { text-anchor: middle } .label { text-anchor: end }",
    ".grid { stroke: #d0d7de } .one { stroke: #57606a } .range { stroke-width: 3 } .mark { stroke: #bf8700; stroke-width: 2 }",
    ".reached { stroke: #1a7f37; fill: #1a7f37 } .missed { stroke: #cf222e; fill: #cf222e }",
    "</style>",
    ...ticks,
    ...ratios.map(drawRow),
    "</svg>",
    "",
  ].join("\n");
}

/**
 * @param {Row} row
 * @param {number} index
 */
function drawRow(row, index) {
  const y = TOP + index * LINE + 8;
  const { min, median, max } = spread(figures(row));
  const kind = reaches(row) ? "reached" : "missed";
  const mark = x("atMost" in row.mark ? row.mark.atMost : row.mark.atLeast);
  return [
    `<text class="label" x="${LABELS - 20}" y="${y + 4}">${escapeXml(`${row.what}, against ${row.against}`)}</text>`,
    `<line class="mark" x1="${mark}" x2="${mark}" y1="${y - 7}" y2="${y + 7}"><title>mark: ${escapeXml(showMark(row))}</title></line>`,
    `<line class="range ${kind}" x1="${x(min)}" x2="${x(max)}" y1="${y}" y2="${y}"/>`,
    `<circle class="${kind}" cx="${x(median)}" cy="${y}" r="4"><title>${median.toFixed(2)} ×</title></circle>`,
  ].join("");
}

/**
 * The place of a ratio on the logarithmic axis.
 * @param {number} ratio
 */
function x(ratio) {
  const inside = Math.min(LARGEST, Math.max(SMALLEST, ratio));
  const share = Math.log(inside / SMALLEST) / Math.log(LARGEST / SMALLEST);
  return Math.round(LABELS + share * (WIDTH - LABELS - 30));
}

/** @param {string} text */
function escapeXml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

module.exports = { plot };
