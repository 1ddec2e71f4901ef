#!/usr/bin/env node
// Draws the output of the demo as a terminal: npm run --silent demo | node tools/demo/picture.js >
// docs/images/demo.svg
const { readFileSync } = require("node:fs");
const { escaped, svg } = require("../svg");

const FONT_SIZE = 13;
const LINE_HEIGHT = 19;
/** The width of a character in any monospaced font, as a fraction of the font size. */
const CHARACTER = 0.602;
const MARGIN = 16;
const COLUMNS = 124;

/**
 * Returns the parts of a line with their classes.
 * @param {string} line
 * @returns {[string, string][]}
 */
function partsOf(line) {
  const [, title, detail] = /^(\d\. .*?)( {2}(?:\w+=\w+ )?pulumi .*)$/.exec(line) ?? [];
  if (title !== undefined && detail !== undefined) {
    return [
      ["bold", title],
      ["faint", detail],
    ];
  }
  if (line.startsWith("$")) return [["bold", line]];
  if (/^ +\+/.test(line)) return [["added", line]];
  if (/^ +~/.test(line)) return [["changed", line]];
  if (/^ +-/.test(line)) return [["removed", line]];
  return [[/^(?: |pulumi|The emulator|All output)/.test(line) ? "faint" : "plain", line]];
}

const STYLE = `
.back { fill: #f6f8fa; stroke: #d0d7de } .plain, .bold { fill: #1f2328 } .bold { font-weight: bold } .faint { fill: #57606a }
.added { fill: #116329 } .changed { fill: #7d4e00 } .removed { fill: #a40e26 }
text { font: ${FONT_SIZE}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
@media (prefers-color-scheme: dark) {
.back { fill: #161b22; stroke: #30363d } .plain, .bold { fill: #e6edf3 } .faint { fill: #9198a1 }
.added { fill: #56d364 } .changed { fill: #e3b341 } .removed { fill: #ff7b72 }
}`;

/** @param {readonly string[]} lines */
function draw(lines) {
  const width = Math.ceil(COLUMNS * FONT_SIZE * CHARACTER + 2 * MARGIN);
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
  const texts = lines.map((line, index) => {
    const parts = partsOf(line).map(([name, text]) => `<tspan class="${name}">${escaped(text)}</tspan>`);
    return `<text x="${MARGIN}" y="${MARGIN + (index + 0.75) * LINE_HEIGHT}">${parts.join("")}</text>`;
  });
  const facts = { width, height, title: "The demo in a terminal", description: lines.join("\n"), style: STYLE };
  return svg(facts, [
    `<rect class="back" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...texts,
  ]);
}

/** The engine's path is irrelevant. */
const shown = readFileSync(0, "utf8")
  .trim()
  .split("\n")
  .map((line) => line.replace(/^(pulumi [\d.]+), .*$/, "$1"))
  .map((line) => (line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line));
process.stdout.write(draw(["$ npm run demo", ...shown]));
