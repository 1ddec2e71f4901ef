const { projects, REPORTER } = require("../projects");

/**
 * The provider plugin with programs in other languages, and with the options of resources. They take minutes and prepare
 * language hosts, so they are not part of `npm test`.
 * @type {import("jest").Config}
 */
module.exports = {
  ...projects.engine,
  testMatch: ["<rootDir>/test/languages/**/*.campaign.ts"],
  globalSetup: "<rootDir>/test/languages/globalSetup.ts",
  // The files share the generated SDKs.
  maxWorkers: 1,
  reporters: ["default", REPORTER],
};
