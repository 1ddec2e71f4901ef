const TICK_MS = 1_000;
/** Without a terminal, one line for each of these. */
const LINE_MS = 20_000;

/**
 * Shows the progress of long steps: one line at the start and one at the end, with the time. On a
 * terminal the time ticks.
 * @param {(line: string) => void} log
 */
function createProgress(log) {
  /**
   * @template T
   * @param {string} title
   * @param {Promise<T>} work
   * @returns {Promise<T>}
   */
  return async function step(title, work) {
    const start = Date.now();
    const elapsed = () => `${Math.round((Date.now() - start) / 1000)} s`;
    const tick = () => process.stderr.write(`pulumi: ${elapsed()}\r`);
    log(`pulumi: ${title} …`);
    const isTerminal = process.stderr.isTTY;
    const ticker = isTerminal ? setInterval(tick, TICK_MS) : setInterval(() => log(`pulumi: … ${elapsed()}`), LINE_MS);
    try {
      const result = await work;
      log(`pulumi: done in ${elapsed()}`);
      return result;
    } catch (error) {
      log(`pulumi: failed after ${elapsed()}`);
      throw error;
    } finally {
      clearInterval(ticker);
    }
  };
}

module.exports = { createProgress };
