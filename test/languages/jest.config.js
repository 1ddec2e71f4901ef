const path = require("node:path");
const base = require("../../jest.config.js");

const engineTests = base.projects?.[1];

/**
 * The provider plugin with programs in other languages, and with the options of resources. They take minutes and prepare
 * language hosts, so they are not part of `npm test`.
 * @type {import("jest").Config}
 */
module.exports = {
  ...(typeof engineTests === "object" ? engineTests : {}),
  rootDir: path.resolve(__dirname, "../.."),
  testMatch: ["<rootDir>/test/languages/**/*.campaign.ts"],
  globalSetup: "<rootDir>/test/languages/globalSetup.ts",
  // The files share the generated SDKs.
  maxWorkers: 1,
  reporters: base.reporters,
};
