const fs = require("node:fs/promises");
const path = require("node:path");
const { writeLaunchers } = require("./launchers");
const { run } = require("./run");

const PACKAGE = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi";
const VERSION_VARIABLE = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version";

/** @type {Partial<Record<NodeJS.Platform, string>>} */
const GOOS = { win32: "windows" };
/** @type {Partial<Record<NodeJS.Architecture, string>>} */
const GOARCH = { x64: "amd64", ia32: "386" };

/**
 * Builds the engine from Pulumi's Go modules, with the versions and checksums of this folder's
 * go.mod and go.sum. Puts the launchers beside it, which are part of the official engine but not of
 * the modules.
 * @param {string} version
 * @param {string} root the parent of the folder `bin` for the engine
 * @param {<T>(title: string, work: Promise<T>) => Promise<T>} step shows a step while it runs
 */
async function buildEngine(version, root, step) {
  const temp = path.join(root, "tmp");
  await fs.mkdir(temp);
  const go = await createGo(__dirname, temp);
  await step("downloading its Go modules", go("list", "-deps", PACKAGE));
  const linkerFlags = `-s -w -X ${VERSION_VARIABLE}=v${version}`;
  const executable = path.join(root, "bin", process.platform === "win32" ? "pulumi.exe" : "pulumi");
  const build = go("build", "-trimpath", "-buildvcs=false", "-ldflags", linkerFlags, "-o", executable, PACKAGE);
  await step("compiling it, once per machine (about two minutes on two cores)", build);
  await writeLaunchers(path.join(root, "bin"));
  await fs.rm(temp, { recursive: true });
}

/**
 * Returns a function that runs `go` in a module and returns its output.
 * @param {string} module the module's folder
 * @param {string} temp an existing folder for temporary files of the compiler
 * @throws {Error} if there is no Go
 */
async function createGo(module, temp) {
  /** @param {string[]} args */
  const go = (...args) => run("go", args, { cwd: module, env: goEnvironment(temp) });
  try {
    await go("version");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") throw new Error("there is no go on PATH");
    throw error;
  }
  return go;
}

/**
 * Returns the user's environment without settings that would change the build. Proxies and mirrors
 * stay as the user has set them: go.sum verifies their downloads.
 * @param {string} temp an existing folder for temporary files of the compiler
 * @returns {NodeJS.ProcessEnv}
 */
function goEnvironment(temp) {
  return {
    ...process.env,
    GOFLAGS: "-mod=readonly",
    GOWORK: "off",
    // If Go is older than go.mod requires, it downloads the required version.
    GOTOOLCHAIN: "auto",
    GOOS: GOOS[process.platform] ?? process.platform,
    GOARCH: GOARCH[process.arch] ?? process.arch,
    GOTMPDIR: temp,
    CGO_ENABLED: "0",
  };
}

module.exports = { buildEngine, createGo };
