const { options, projects, REPORTER } = require("./test/projects");

/**
 * `npm run test:all`. It fails if `npm test` has become too long: with the build and the checks
 * before it, it must end within five minutes on two cores. The budgets are processor seconds.
 * @type {import("jest").Config}
 */
module.exports = {
  ...options,
  projects: Object.values(projects),
  reporters: ["default", [REPORTER, { fileBudget: 75, budget: 600 }]],
};
