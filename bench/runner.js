/**
 * The result of a benchmark: one line of the table.
 * @typedef {object} Row
 * @property {string} what
 * @property {string} unit of the values
 * @property {number[]} ours one value for each run
 * @property {string} [against] what it is compared with: the floor, or a peer
 * @property {number[]} [theirs] its values, each measured in the same run as ours
 * @property {"ratio" | "difference" | "value"} judged ours over theirs, ours less theirs (both pair
 * by pair), or ours alone
 * @property {Mark} mark
 */

/** @typedef {{ readonly atMost: number } | { readonly atLeast: number }} Mark */

/**
 * @typedef {object} Settings
 * @property {boolean} quick to see that it works: one run, of a tenth of the size
 * @property {(line: string) => void} log
 */

/**
 * @typedef {object} Benchmark
 * @property {string} title
 * @property {(settings: Settings) => Promise<Row[] | undefined>} run returns `undefined` if what it
 * needs is not there
 */

/** @typedef {{ readonly min: number, readonly median: number, readonly max: number }} Spread */

/**
 * Runs each task once and returns the results. Every other run reverses the order, so that no task
 * always finds a cold (or a warm) machine.
 * @template {string} Name
 * @template T
 * @param {number} run
 * @param {Record<Name, () => T | Promise<T>>} works
 * @returns {Promise<Record<Name, T>>}
 */
async function inTurn(run, works) {
  const names = /** @type {Name[]} */ (Object.keys(works));
  const results = /** @type {Record<Name, T>} */ ({});
  for (const name of run % 2 === 0 ? names : names.toReversed()) results[name] = await works[name]();
  return results;
}

/**
 * Runs the tasks in turn, `runs` times, and collects their results.
 * @template {string} Name
 * @template T
 * @param {number} runs
 * @param {Record<Name, () => T | Promise<T>>} works
 * @returns {Promise<Record<Name, T[]>>}
 */
async function alternate(runs, works) {
  const names = /** @type {Name[]} */ (Object.keys(works));
  /** @type {Record<Name, T>[]} */
  const results = [];
  for (let run = 0; run < runs; run++) results.push(await inTurn(run, works));
  return /** @type {Record<Name, T[]>} */ (
    Object.fromEntries(names.map((name) => [name, results.map((result) => result[name])]))
  );
}

/**
 * Measures the time that a task takes, in milliseconds.
 * @param {() => unknown} work
 */
async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/**
 * @param {readonly number[]} values
 * @returns {Spread}
 */
function spread(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (/** @type {number} */ index) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return {
    min: at(0),
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    max: at(sorted.length - 1),
  };
}

/**
 * The figure of each run that the mark is about.
 * @param {Row} row
 */
function figures({ ours, theirs = [], judged }) {
  if (judged === "value") return ours;
  const compare = judged === "ratio" ? divide : subtract;
  return ours.map((value, run) => compare(value, theirs[run] ?? Number.NaN));
}

const divide = (/** @type {number} */ one, /** @type {number} */ other) => one / other;
const subtract = (/** @type {number} */ one, /** @type {number} */ other) => one - other;

/**
 * Returns `true` if the median of the figures reaches the mark.
 * @param {Row} row
 */
function reaches(row) {
  const { median } = spread(figures(row));
  return "atMost" in row.mark ? median <= row.mark.atMost : median >= row.mark.atLeast;
}

module.exports = { inTurn, alternate, timed, spread, figures, reaches };
