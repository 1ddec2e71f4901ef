#!/usr/bin/env node
// Prepares the language hosts for Go, Java, Python and YAML, which the tests of other languages
// need: npm run hosts:install. The official engine has them. An engine that was built from Go
// modules gets them from there. The progress goes to standard error.
const { createHash } = require("node:crypto");
const fs = require("node:fs/promises");
const path = require("node:path");
const { createGo } = require("./build");
const { ensurePulumi } = require("./ensurePulumi");
const { findExecutable } = require("./find");
const { withLock } = require("./lock");
const { createProgress } = require("./progress");

/** A separate Go module, so that its requirements do not affect those of the engine. */
const MODULE = path.join(__dirname, "hosts");

/**
 * The Go package that each executable is built from. Ours serves the language that the executable
 * is named after.
 */
const PACKAGES = {
  "pulumi-language-yaml": "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
  "pulumi-language-java": "github.com/pulumi/pulumi-java/pkg/cmd/pulumi-language-java",
  "pulumi-language-go": ".",
  "pulumi-language-python": ".",
};

/** Pulumi's script that runs a Python program, in the module of its Go SDK. */
const SDK_MODULE = "github.com/pulumi/pulumi/sdk/v3";
const PYTHON_EXECUTOR = "pulumi-language-python-exec";

/** The file next to the hosts that records the sources from which they were built. */
const STAMP = "hosts-built-from";

/**
 * Finds or prepares the engine, and the language hosts beside it. Several runs at the same time are
 * safe.
 * @param {{ log?: (line: string) => void }} [options] `log` gets the lines of progress; by default
 * they go to standard error
 * @returns {Promise<import("./find").Engine>}
 * @throws {Error} if the engine on PATH lacks a host, or a host cannot be built
 */
async function ensureHosts({ log = console.error } = {}) {
  const engine = await ensurePulumi({ log });
  const { binDir } = engine;
  const sources = await digestOfSources();
  if (await areReady(binDir, sources)) return engine;
  if (engine.source === "path")
    throw new Error(`${binDir} does not have all of ${Object.keys(PACKAGES).join(", ")}: install the Pulumi CLI`);
  await withLock(
    path.dirname(binDir),
    () => log("pulumi: another run is preparing language hosts, waiting for it …"),
    async (unfinished) => {
      if (await areReady(binDir, sources)) return;
      const built = await buildHosts(unfinished, createProgress(log));
      // Empty until all are there.
      await fs.writeFile(path.join(binDir, STAMP), "");
      for (const name of await fs.readdir(built)) await fs.rename(path.join(built, name), path.join(binDir, name));
      await fs.writeFile(path.join(binDir, STAMP), sources);
    },
  );
  return engine;
}

/**
 * Returns `true` if a folder has all hosts: the official ones, or those that were built from these
 * sources.
 * @param {string} binDir
 * @param {string} sources
 */
async function areReady(binDir, sources) {
  const found = await Promise.all(Object.keys(PACKAGES).map((name) => findExecutable(name, [binDir])));
  const builtFrom = await fs.readFile(path.join(binDir, STAMP), "utf8").catch(() => sources);
  return found.every((file) => file !== undefined) && builtFrom === sources;
}

/** A digest of what the hosts are built from. */
async function digestOfSources() {
  const digest = createHash("sha256");
  for (const name of (await fs.readdir(MODULE)).sort()) digest.update(await fs.readFile(path.join(MODULE, name)));
  return digest.digest("hex");
}

/**
 * Builds the hosts and returns their folder.
 * @param {string} unfinished a folder for unfinished files
 * @param {<T>(title: string, work: Promise<T>) => Promise<T>} step shows a step while it runs
 */
async function buildHosts(unfinished, step) {
  const [folder, temp] = [path.join(unfinished, "bin"), path.join(unfinished, "tmp")];
  await Promise.all([folder, temp].map((each) => fs.mkdir(each, { recursive: true })));
  const go = await createGo(MODULE, temp);
  await step("downloading the Go modules of the language hosts", go("list", "-deps", ...Object.values(PACKAGES)));
  for (const [name, source] of Object.entries(PACKAGES)) {
    const executable = path.join(folder, process.platform === "win32" ? `${name}.exe` : name);
    const build = go("build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", executable, source);
    await step(`compiling ${name}, once per machine`, build);
  }
  const sdk = (await go("list", "-m", "-f", "{{.Dir}}", SDK_MODULE)).trim();
  await fs.copyFile(path.join(sdk, "python/cmd", PYTHON_EXECUTOR), path.join(folder, PYTHON_EXECUTOR));
  return folder;
}

if (require.main === module) {
  ensureHosts().then(
    ({ binDir }) => console.log(`language hosts: ${binDir}`),
    (error) => {
      console.error(error.message);
      process.exitCode = 1;
    },
  );
}

module.exports = { ensureHosts };
