const { projects, REPORTER } = require("../projects");

/**
 * The tests that install the packed package from the registry, with Pulumi, as users do. They are not part of
 * `npm test`, which works without a network.
 * @type {import("jest").Config}
 */
module.exports = {
  ...projects.engine,
  testMatch: ["<rootDir>/test/package/**/*.campaign.ts"],
  reporters: ["default", REPORTER],
};
