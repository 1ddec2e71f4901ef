// A Jest environment that records the processor time of each test file, with that of the processes
// it starts. Unlike elapsed time, processor time does not depend on how busy the machine is. It is
// known only on Linux.
const { appendFileSync, readFileSync } = require("node:fs");
const { TestEnvironment } = require("jest-environment-node");

/** Clock ticks in a second, as Linux reports them. */
const TICKS = 100;

/** Returns the processor time of this process and of its children that have ended, in seconds. */
function processorSeconds() {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS;
  } catch {
    return 0;
  }
}

module.exports = class MeasuringEnvironment extends TestEnvironment {
  #startedAt = 0;
  #file = "";
  #isFast = false;

  /**
   * @param {import("@jest/environment").JestEnvironmentConfig} config
   * @param {import("@jest/environment").EnvironmentContext} context
   */
  constructor(config, context) {
    super(config, context);
    this.#file = context.testPath;
    this.#isFast = config.projectConfig.testEnvironmentOptions.isFast === true;
  }

  /** @override */
  async setup() {
    this.#startedAt = processorSeconds();
    await super.setup();
  }

  /** @override */
  async teardown() {
    await super.teardown();
    const { TEST_TIMES } = process.env;
    if (TEST_TIMES === undefined) return;
    const seconds = processorSeconds() - this.#startedAt;
    appendFileSync(TEST_TIMES, `${JSON.stringify({ file: this.#file, isFast: this.#isFast, seconds })}\n`);
  }
};
