const { options, projects, REPORTER } = require("./test/projects");

/** In processor seconds: `npm test` must end within five minutes on two cores. CI checks it. */
const budgets = process.env.CI ? { fileBudget: 75, budget: 600 } : {};

/**
 * `npm test`.
 * @type {import("jest").Config}
 */
module.exports = {
  ...options,
  projects: [projects.unit, projects.core],
  reporters: ["default", [REPORTER, budgets]],
};
