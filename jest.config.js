/** @type {import("jest").Config} */
module.exports = {
  testEnvironment: "node",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "commonjs" } },
    ],
  },
  // The package's own name resolves to its source, so that unit tests need no build.
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/.scratch/"],
  watchPathIgnorePatterns: ["<rootDir>/.scratch/"],
  testTimeout: 30_000,
  reporters: ["default", "<rootDir>/tools/summaryReporter.js"],
};
