const { availableParallelism } = require("node:os");
const { options, projects, REPORTER } = require("./test/projects");

/**
 * `npm run test:all`.
 * @type {import("jest").Config}
 */
module.exports = {
  ...options,
  // Many of the long tests wait for a real clock.
  maxWorkers: availableParallelism() + 3,
  projects: Object.values(projects),
  reporters: ["default", REPORTER],
  testSequencer: "<rootDir>/tools/testTimes/sequencer.js",
};
