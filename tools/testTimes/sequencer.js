// Starts the slowest test files first. Otherwise, one of them may start when all others are done,
// and the run waits for it alone. Jest knows the durations only if the files have run on this
// machine before, which is never the case in CI.
const path = require("node:path");
const { default: Sequencer } = require("@jest/test-sequencer");

/** Files that take longer than their size suggests, by which Jest orders unknown ones. */
const LONGEST = [
  "cli/alerts/campaign",
  "pulumi/pipeline",
  "pulumi/tick",
  "pulumi/rehearseVerdicts",
  "cli/metrics/fullDisk",
  "pulumi/ownContainer",
  "cli/metrics/memory",
  "provider/rollOut/table",
  "provider/rollOut/adoptions",
  "pulumi/rehearse",
  "cli/slowService",
  "project/wings",
].map((name) => path.resolve(__dirname, `../../test/${name}.test.ts`));

module.exports = class LongestFirst extends Sequencer {
  /**
   * @override
   * @param {import("@jest/test-result").Test[]} tests
   */
  async sort(tests) {
    const sorted = await super.sort(tests);
    const first = LONGEST.flatMap((file) => sorted.filter((test) => test.path === file));
    return [...first, ...sorted.filter((test) => !first.includes(test))];
  }
};
