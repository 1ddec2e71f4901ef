// A Jest reporter that says at the end what took the longest, and ends with one plain line for CI:
// `N passed, N failed`.
const { readFileSync, rmSync } = require("node:fs");
const path = require("node:path");

/** The number of files that the report names. */
const LONGEST = 10;

/**
 * @typedef {{ readonly file: string, readonly isFast: boolean, readonly seconds: number }} FileTime
 */

module.exports = class SummaryReporter {
  #failed = false;

  /**
   * @param {import("@jest/types").Config.GlobalConfig} globalConfig
   * @param {{ readonly fileBudget?: number, readonly budget?: number }} options the processor time
   * that one file of `npm test` may take, and all of them together, in seconds
   */
  constructor(globalConfig, { fileBudget = Number.POSITIVE_INFINITY, budget = Number.POSITIVE_INFINITY } = {}) {
    this.rootDir = globalConfig.rootDir;
    this.fileBudget = fileBudget;
    this.budget = budget;
  }

  /**
   * @param {unknown} _contexts
   * @param {import("@jest/reporters").AggregatedResult} results
   */
  onRunComplete(_contexts, results) {
    const times = readTimes();
    if (times.length > 1) this.report(times, Date.now() - results.startTime);
    // A test file that cannot be loaded has no tests to count, but it failed.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    process.stdout.write(`\n${results.numPassedTests} passed, ${failed} failed\n`);
  }

  /**
   * @param {readonly FileTime[]} times
   * @param {number} wallMs
   */
  report(times, wallMs) {
    const total = times.reduce((sum, { seconds }) => sum + seconds, 0);
    const longest = [...times].sort((a, b) => b.seconds - a.seconds).slice(0, LONGEST);
    const lines = longest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${this.shown(file)}`);
    process.stdout.write(
      `\n${times.length} files took ${inMinutes(wallMs / 1000)}, and ${inMinutes(total)} of processor time. The longest:\n` +
        `${lines.join("\n")}\n`,
    );
    const fast = times.filter(({ isFast }) => isFast);
    const slow = fast.filter(({ seconds }) => seconds > this.fileBudget);
    const sum = fast.reduce((all, { seconds }) => all + seconds, 0);
    for (const { file, seconds } of slow) {
      this.fail(`${this.shown(file)} takes ${seconds.toFixed(1)} s. A file of npm test may take ${this.fileBudget} s`);
    }
    if (sum > this.budget)
      this.fail(`npm test takes ${inMinutes(sum)} of processor time, and may take ${inMinutes(this.budget)}`);
  }

  /** @param {string} problem */
  fail(problem) {
    this.#failed = true;
    process.stdout.write(`\n${problem}: make it faster, or list it as long in test/projects.js\n`);
  }

  /** @param {string} file */
  shown(file) {
    return path.relative(this.rootDir, file);
  }

  getLastError() {
    return this.#failed ? new Error("the tests take longer than their budget") : undefined;
  }
};

/** @returns {FileTime[]} */
function readTimes() {
  const { TEST_TIMES = "" } = process.env;
  try {
    const lines = readFileSync(TEST_TIMES, "utf8").trim().split("\n");
    rmSync(TEST_TIMES);
    return lines.map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

/** @param {number} seconds */
function inMinutes(seconds) {
  return seconds < 60 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
