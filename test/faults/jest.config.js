const { projects, REPORTER } = require("../projects");

/**
 * The campaign under faults: it takes minutes, not seconds, so it is not part of `npm test`.
 * @type {import("jest").Config}
 */
module.exports = {
  ...projects.engine,
  testMatch: ["<rootDir>/test/faults/**/*.campaign.ts"],
  // Each test runs the engine, and the machine has few cores.
  maxConcurrency: 3,
  reporters: ["default", REPORTER],
};
