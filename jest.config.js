const { availableParallelism } = require("node:os");

/** @type {import("jest").Config} */
const project = {
  rootDir: __dirname,
  testEnvironment: "node",
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "commonjs" } },
    ],
  },
  // Copies of sources and package.json files that must not be taken for the project's own.
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/.scratch/"],
  watchPathIgnorePatterns: ["<rootDir>/.scratch/"],
};

/** @type {import("jest").Config} */
module.exports = {
  projects: [
    {
      ...project,
      testMatch: ["<rootDir>/test/**/*.test.ts"],
      testPathIgnorePatterns: ["<rootDir>/test/pulumi/"],
    },
    {
      ...project,
      // These run the real Pulumi engine, which is prepared once before them, and only where one of
      // them is to run.
      testMatch: ["<rootDir>/test/pulumi/**/*.test.ts"],
      globalSetup: "<rootDir>/test/pulumi/globalSetup.ts",
    },
  ],
  // Only for a test that hangs: a busy machine can be ten times slower.
  testTimeout: 120_000,
  // Tests wait for other processes more than they work themselves.
  maxWorkers: availableParallelism() + 1,
  reporters: ["default", "<rootDir>/tools/summaryReporter.js"],
};
