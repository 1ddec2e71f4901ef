const { options, projects, REPORTER } = require("./test/projects");

/**
 * `npm test`.
 * @type {import("jest").Config}
 */
module.exports = {
  ...options,
  projects: [projects.unit, projects.core],
  reporters: ["default", REPORTER],
};
