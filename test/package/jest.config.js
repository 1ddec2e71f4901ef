const path = require("node:path");
const base = require("../../jest.config.js");

const engineTests = base.projects?.[1];

/**
 * The tests that install the packed package from the registry, with Pulumi, as users do. They are not part of
 * `npm test`, which works without a network.
 * @type {import("jest").Config}
 */
module.exports = {
  ...(typeof engineTests === "object" ? engineTests : {}),
  rootDir: path.resolve(__dirname, "../.."),
  testMatch: ["<rootDir>/test/package/**/*.campaign.ts"],
  reporters: base.reporters,
};
