// The projects of tests, and which of them `npm test` runs. `npm run test:all` runs all of them.
const { mkdirSync } = require("node:fs");
const { availableParallelism } = require("node:os");
const path = require("node:path");

const rootDir = path.resolve(__dirname, "..");

// Patterns that exclude files need whole paths: Jest puts the root only into those that begin with
// it.

/**
 * The tests with the real engine that `npm test` runs: the life of a resource, and a file for each
 * risk.
 */
const CORE = ["adoption", "crash", "lifecycle", "plugin", "secrets"].map(
  (name) => `${rootDir}/test/pulumi/${name}.test.ts`,
);

/**
 * Other tests that take long, or need what a newcomer may not have: a browser, or the service's own
 * clients.
 */
const LONG = [
  "bench/requests",
  "cli/alerts/campaign",
  "cli/alerts/command",
  "cli/alerts/states",
  "cli/batch",
  "cli/check/check",
  "cli/cutLists",
  "cli/doctorSettings",
  "cli/emulator",
  "cli/emulatorSession",
  "cli/explain",
  "cli/explainSlow",
  "cli/forecast/change",
  "cli/forecast/forecast",
  "cli/forecast/pictures",
  "cli/forecast/recordedCalibration",
  "cli/forecast/recordedWeek",
  "cli/forecast/schedule",
  "cli/metrics/exporter",
  "cli/metrics/fullDisk",
  "cli/metrics/gaps",
  "cli/metrics/memory",
  "cli/metrics/recordedDay",
  "cli/releases",
  "cli/slowService",
  "diagnosis/standIn",
  "diagnosis/states",
  "emulator/clients/*",
  "emulator/page/page",
  "emulator/programs/workerProcesses",
  "emulator/queue/queueProperty",
  "emulator/queue/queueRateLimits",
  "emulator/server/dataFile",
  "package/sdk",
  "plugin/cancellation",
  "plugin/warnings",
  "project/reference",
  "project/wings",
  "provider/connection/automaticApi",
  "provider/duplicates",
  "provider/dynamic/invoke",
  "provider/endpoint/inService",
  "provider/endpoint/keptStandby",
  "provider/endpoint/scheduledRuns",
  "provider/explainedWaits",
  "provider/faults",
  "provider/followedAdvice/*",
  "provider/functions/spend",
  "provider/kinds/leftVariables",
  "provider/records/catalogCheck",
  "provider/refusals",
  "provider/restV2",
  "provider/rollOut/adoptions",
  "provider/rollOut/releases",
  "provider/rollOut/table",
  "provider/unfinishedWrites",
  "sdk/batches/journaledBatch",
  "sdk/contract/fileLock",
  "sdk/diagnosis/diagnose",
  "sdk/diagnosis/followedAdvice",
  "sdk/endpoints/deadIds",
  "sdk/endpoints/graphqlQuota",
  "sdk/endpoints/lostCreate",
  "sdk/endpoints/schedule",
  "sdk/jobs/badInput",
  "sdk/jobs/jobSequences",
  "sdk/jobs/poller",
  "sdk/journal/postgresJournal",
  "sdk/logs/logs",
  "sdk/records/cutLists",
  "sdk/records/lostCreates",
  "sdk/transport/interfaceLimits",
  "sdk/transport/oddResponses",
  "sdk/transport/rateLimits",
  "sdk/transport/slowLine",
  "sdk/webhooks/webhookReceiverAttacks",
  "tools/verifyService",
].map((name) => `${rootDir}/test/${name}.test.ts`);

/** Where each test file leaves its processor time for the reporter. */
process.env.TEST_TIMES ??= path.join(rootDir, `.scratch/test-times-${process.pid}.jsonl`);
mkdirSync(path.dirname(process.env.TEST_TIMES), { recursive: true });

/** @type {import("jest").Config} */
const project = {
  rootDir,
  testEnvironment: "<rootDir>/tools/testTimes/environment.js",
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "commonjs" } },
    ],
  },
  // Copies of sources and package.json files that must not be taken for the project's own.
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/build/", "<rootDir>/.scratch/"],
  watchPathIgnorePatterns: ["<rootDir>/.scratch/"],
};

const UNIT = [`${rootDir}/test/**/*.test.ts`, `!${rootDir}/test/pulumi/**`];
const isFast = { testEnvironmentOptions: { isFast: true } };

/** Every project of tests, by what it needs. */
const projects = {
  unit: { ...project, displayName: "unit", ...isFast, testMatch: [...UNIT, ...LONG.map((pattern) => `!${pattern}`)] },
  long: { ...project, displayName: "long", testMatch: LONG },
  /** Prepares the real Pulumi engine once, and only where one of its tests is to run. */
  core: {
    ...project,
    displayName: "core",
    ...isFast,
    testMatch: CORE,
    globalSetup: "<rootDir>/test/pulumi/globalSetup.ts",
  },
  engine: {
    ...project,
    displayName: "engine",
    testMatch: [`${rootDir}/test/pulumi/**/*.test.ts`, ...CORE.map((pattern) => `!${pattern}`)],
    globalSetup: "<rootDir>/test/pulumi/globalSetup.ts",
  },
};

/** @type {import("jest").Config} */
const options = {
  rootDir,
  // Only for a test that hangs: a busy machine can be ten times slower.
  testTimeout: 120_000,
  // Tests wait for other processes more than they work themselves.
  maxWorkers: availableParallelism() + 2,
};

const REPORTER = path.join(rootDir, "tools/testTimes/reporter.js");

module.exports = { projects, options, REPORTER };
