const TICK_MS = 1_000;

/**
 * Shows steps that take long: a line when one starts and one when it ends, with its time; on a terminal the time ticks.
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
    const ticker = process.stderr.isTTY ? setInterval(tick, TICK_MS) : undefined;
    try {
      const result = await work;
      log(`pulumi: done in ${elapsed()}`);
      return result;
    } catch (error) {
      log(`pulumi: that failed after ${elapsed()}`);
      throw error;
    } finally {
      clearInterval(ticker);
    }
  };
}

module.exports = { createProgress };
