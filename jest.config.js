const { options, projects, REPORTER } = require("./test/projects");

/**
 * In processor seconds. `npm test` must end within five minutes on two cores, so it may take ten
 * minutes of theirs. CI checks it, and its machine may be two thirds as fast.
 */
const budgets = process.env.CI ? { fileBudget: 100, budget: 900 } : {};

/**
 * `npm test`.
 * @type {import("jest").Config}
 */
module.exports = {
  ...options,
  projects: [projects.unit, projects.core],
  reporters: ["default", [REPORTER, budgets]],
};
