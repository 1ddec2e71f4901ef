/** A Jest reporter that ends the run with one plain line for CI logs: `N passed, N failed`. */
module.exports = class SummaryReporter {
  /**
   * @param {unknown} _contexts
   * @param {import("@jest/reporters").AggregatedResult} results
   */
  onRunComplete(_contexts, results) {
    // A test file that cannot be loaded has no tests to count, but it failed.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    process.stdout.write(`\n${results.numPassedTests} passed, ${failed} failed\n`);
  }
};
