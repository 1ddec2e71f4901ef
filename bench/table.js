const { figures, reaches, spread } = require("./runner");

/** @typedef {import("./runner").Row} Row */

const COLUMNS = ["", "what", "ours", "against", "theirs", "compared", "mark"];

/**
 * The rows as a plain-text table. Where runs differ, a cell shows min / median / max.
 * @param {readonly Row[]} rows
 */
function table(rows) {
  const lines = [COLUMNS, ...rows.map(cells)];
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")).join("\n");
}

/** @param {Row} row */
function cells(row) {
  const compared = { ratio: "×", difference: row.unit, value: "" }[row.judged];
  return [
    reaches(row) ? "✓" : "✗",
    row.what,
    showSpread(row.ours, row.unit),
    row.against ?? "",
    row.theirs ? showSpread(row.theirs, row.unit) : "",
    row.judged === "value" ? "" : showSpread(figures(row), compared),
    showMark(row),
  ];
}

/** @param {Row} row */
function showMark({ mark, judged, unit }) {
  const [sign, value] = "atMost" in mark ? ["≤", mark.atMost] : ["≥", mark.atLeast];
  return `${sign} ${value} ${judged === "ratio" ? "×" : unit}`;
}

/**
 * @param {readonly number[]} values
 * @param {string} unit
 */
function showSpread(values, unit) {
  const { min, median, max } = spread(values);
  const shown = min === max ? show(min) : [min, median, max].map(show).join(" / ");
  return `${shown} ${unit}`.trimEnd();
}

/** @param {number} value */
function show(value) {
  return Number.isInteger(value)
    ? String(value)
    : value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

module.exports = { table, show, showMark };
