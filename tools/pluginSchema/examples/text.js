// What the generators share.

/**
 * Indents every line but the first one.
 * @param {string} text
 * @param {string} by
 */
const indented = (text, by) => text.replaceAll("\n", `\n${by}`);

/**
 * Returns a block: its lines are indented between two others.
 * @param {string} open
 * @param {readonly string[]} lines
 * @param {string} close
 * @param {string} by
 */
const block = (open, lines, close, by) =>
  [open, ...lines.map((line) => `${by}${indented(line, by)}`), close].join("\n");

/** @param {string} name */
const pascal = (name) => name.charAt(0).toUpperCase() + name.slice(1);

/**
 * Returns a name as Python has it: `executionTimeoutMs` is `execution_timeout_ms`.
 * @param {string} name
 */
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

module.exports = { block, indented, pascal, snake };
