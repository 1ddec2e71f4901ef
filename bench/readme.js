const { figures, reaches, spread } = require("./runner");
const { show, showMark } = require("./table");

/** @typedef {import("./runner").Row} Row */

const BEGIN = "<!-- The table is written by `npm run bench`. -->";
const END = "<!-- The end of the table. -->";

/**
 * Returns the document with the table of these rows between its two marks.
 * @param {string} text
 * @param {readonly Row[]} rows
 */
function withTable(text, rows) {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error("bench/README.md does not have the marks of the table");
  return `${text.slice(0, from + BEGIN.length)}\n\n${markdownTable(rows)}\n\n${text.slice(to)}`;
}

/** @param {readonly Row[]} rows */
function markdownTable(rows) {
  return [
    "| What | Ours | Compared with | Ratio or difference | Target |",
    "|---|--:|--:|--:|--:|",
    ...rows.map(line),
  ].join("\n");
}

/** @param {Row} row */
function line(row) {
  const { what, unit, ours, against, theirs, judged } = row;
  const other = against && theirs ? `${against}, ${middle(theirs, unit)}` : "";
  const { min, median, max } = spread(figures(row));
  const range = min === max ? "" : ` (${show(min)} to ${show(max)})`;
  const compared = judged === "value" ? range.trim() : `${show(median)} ${judged === "ratio" ? "×" : unit}${range}`;
  const mark = showMark(row).trimEnd();
  const target = reaches(row) ? mark : `${mark}, **missed**`;
  return `| ${what} | ${middle(ours, unit)} | ${other} | ${compared} | ${target} |`;
}

/**
 * @param {readonly number[]} values
 * @param {string} unit
 */
function middle(values, unit) {
  return `${show(spread(values).median)} ${unit}`.trimEnd();
}

module.exports = { withTable };
