const { options, projects, REPORTER } = require("./test/projects");

/**
 * `npm run test:all`.
 * @type {import("jest").Config}
 */
module.exports = {
  ...options,
  projects: Object.values(projects),
  reporters: ["default", REPORTER],
  testSequencer: "<rootDir>/tools/testTimes/sequencer.js",
};
