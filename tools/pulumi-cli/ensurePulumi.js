const { SemVer } = require("semver");
const { buildEngine } = require("./build");
const { addToCache, cachedFolder, findInCache } = require("./cache");
const { MINIMUM_VERSION, findOnPath } = require("./find");
const { withLock } = require("./lock");
const { createProgress } = require("./progress");

/** @typedef {import("./find").Engine} Engine */

/** The engine that is downloaded or built; go.mod names the same. */
const VERSION = "3.230.0";
/** The oldest Go that go.mod accepts. */
const GO_VERSION = "1.25.8";

/**
 * Finds the Pulumi engine or prepares it: the one on PATH, the one in this user's cache, the official download, or a
 * build from Pulumi's Go modules, whichever serves first. Safe to run several times at once.
 * @param {{ log?: (line: string) => void }} [options] `log` takes the lines of progress; default: standard error
 * @returns {Promise<Engine>}
 * @throws {Error} naming all that was tried and what to install, when nothing works
 */
async function ensurePulumi({ log = console.error } = {}) {
  const folder = cachedFolder(VERSION);
  /** @type {string[]} */
  const failures = [];
  /**
   * @param {string} what
   * @param {() => Promise<Engine>} work
   */
  const attempt = async (what, work) => {
    try {
      return await work();
    } catch (error) {
      failures.push(`${what}: ${error instanceof Error ? error.message : error}`);
      return undefined;
    }
  };
  const engine =
    (await attempt("pulumi on PATH", findOnPath)) ??
    (await attempt(`an earlier one in ${folder}`, () => findInCache(folder))) ??
    (await prepare(folder, attempt, log));
  if (!engine) throw new Error(explain(failures));
  return engine;
}

/**
 * @param {string} folder
 * @param {(what: string, work: () => Promise<Engine>) => Promise<Engine | undefined>} attempt
 * @param {(line: string) => void} log
 */
function prepare(folder, attempt, log) {
  const step = createProgress(log);
  return withLock(
    folder,
    () => log("pulumi: another run is preparing the engine, waiting for it …"),
    async (unfinished) => {
      const meanwhile = await findInCache(folder).catch(() => undefined);
      return (
        meanwhile ??
        (await attempt("the official download", () =>
          addToCache(folder, unfinished, "download", (root) =>
            step(`downloading the official engine ${VERSION}`, download(root)),
          ),
        )) ??
        (await attempt("a build from Pulumi's Go modules", () =>
          addToCache(folder, unfinished, "build", (root) => buildEngine(VERSION, root, step)),
        ))
      );
    },
  );
}

/**
 * Installs the official engine through Pulumi's own installer. Fails at once where Pulumi's site is out of reach.
 * @param {string} root the engine goes into its `bin`
 */
async function download(root) {
  // Loaded here because it is slow to load and seldom needed.
  const { PulumiCommand } = require("@pulumi/pulumi/automation");
  await PulumiCommand.install({ root, version: new SemVer(VERSION) });
}

/** @param {string[]} failures */
function explain(failures) {
  return [
    `No Pulumi engine (${MINIMUM_VERSION} or later) could be found or prepared. Tried:`,
    ...failures.map((failure) => `  - ${failure.replaceAll("\n", "\n    ")}`),
    "Install one of these, see that it is on PATH, and run this again:",
    `  - the Pulumi CLI, ${MINIMUM_VERSION} or later: https://www.pulumi.com/docs/install/`,
    `  - Go, ${GO_VERSION} or later, from which the engine is then built: https://go.dev/dl/`,
  ].join("\n");
}

/**
 * One line for people: which engine is used, and why.
 * @param {Engine} engine
 */
function describeEngine({ command, version, source }) {
  const why = {
    path: "found on PATH",
    cache: "prepared by an earlier run",
    download: "downloaded now",
    build: "built now from Pulumi's Go modules",
  };
  return `pulumi ${version}, ${why[source]}: ${command}`;
}

module.exports = { ensurePulumi, describeEngine };
