const COLORS = process.stdout.isTTY && process.env.NO_COLOR === undefined;

/** @param {number} code @param {string} text */
const colored = (code, text) => (COLORS ? text.replace(/^.+$/gm, (line) => `\u001b[${code}m${line}\u001b[0m`) : text);

/** @type {Readonly<Record<string, number>>} */
const COLOR_OF_CHANGE = { "+": 32, "~": 33, "-": 31 };

/** Colors on a terminal, plain text in a pipe. */
exports.style = {
  /** @param {string} text */
  bold: (text) => colored(1, text),
  /** @param {string} text */
  faint: (text) => colored(2, text),
  /** Colors a line that begins with `+`, `~` or `-`. @param {string} text */
  change: (text) => colored(COLOR_OF_CHANGE[text.slice(0, 1)] ?? 0, text),
};
