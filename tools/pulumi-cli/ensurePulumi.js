const { SemVer } = require("semver");
const { buildEngine } = require("./build");
const { addToCache, cachedFolder, findInCache } = require("./cache");
const { MINIMUM_VERSION, findOnPath } = require("./find");
const { withLock } = require("./lock");
const { createProgress } = require("./progress");

/** @typedef {import("./find").Engine} Engine */

/** The version of the engine to download or build. go.mod has the same. */
const VERSION = "3.230.0";
/** The oldest Go that go.mod accepts. */
const GO_VERSION = "1.25.8";

/**
 * The next attempt, by the failed attempt. Only attempts that take noticeable time are listed.
 * @type {Readonly<Record<string, string>>}
 */
const INSTEAD = { "the official download": "Building it with go instead …" };

/**
 * Finds or prepares the Pulumi engine. Tries PATH, this user's cache, the official download, and a
 * build from Pulumi's Go modules, in this order. Several runs at the same time are safe.
 * @param {{ log?: (line: string) => void }} [options] `log` gets the lines of progress; by default
 * they go to standard error
 * @returns {Promise<Engine>}
 * @throws {Error} if nothing works; it names all attempts and what to install
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
      const reason = error instanceof Error ? error.message : String(error);
      failures.push(`${what}: ${reason}`);
      const instead = INSTEAD[what];
      if (instead) log(`pulumi: ${what} failed (${reason.trim().split("\n").at(-1)}). ${instead}`);
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
 * Installs the official engine with Pulumi's installer. Fails at once if Pulumi's site cannot be
 * reached.
 * @param {string} root the engine goes into its `bin`
 */
async function download(root) {
  // Loaded here because it is slow to load and rarely needed.
  const { PulumiCommand } = require("@pulumi/pulumi/automation");
  await PulumiCommand.install({ root, version: new SemVer(VERSION) });
}

/** @param {string[]} failures */
function explain(failures) {
  return [
    `No Pulumi engine (${MINIMUM_VERSION} or later) could be found or prepared. Tried:`,
    ...failures.map((failure) => `  - ${failure.replaceAll("\n", "\n    ")}`),
    "Install one of these, make sure that it is on PATH, and run this again:",
    `  - the Pulumi CLI, ${MINIMUM_VERSION} or later: https://www.pulumi.com/docs/install/`,
    `  - Go, ${GO_VERSION} or later, from which the engine is then built: https://go.dev/dl/`,
  ].join("\n");
}

/**
 * Describes the engine and its source in one line.
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
