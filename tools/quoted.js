const IS_WINDOWS = process.platform === "win32";

/**
 * Returns a word as one argument of a command line for the user's shell.
 * @param {string} word
 */
function quoted(word) {
  if (IS_WINDOWS) return /^[\w./\\:@=^-]+$/.test(word) ? word : `"${word}"`;
  return /^[\w./:@+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

module.exports = { quoted };
