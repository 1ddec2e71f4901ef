const path = require("node:path");
const base = require("../../jest.config.js");

const engineTests = base.projects?.[1];

/**
 * The campaign under faults: it takes minutes, not seconds, so it is not part of `npm test`.
 * @type {import("jest").Config}
 */
module.exports = {
  ...(typeof engineTests === "object" ? engineTests : {}),
  rootDir: path.resolve(__dirname, "../.."),
  testMatch: ["<rootDir>/test/faults/**/*.campaign.ts"],
  // Each test runs the engine, and the machine has few cores.
  maxConcurrency: 3,
};
