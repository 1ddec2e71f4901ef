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
 * Builds the engine from Pulumi's own Go modules, at the versions and check sums of this folder's go.mod and go.sum, and
 * puts the launchers beside it, which come with the official engine and not with the modules.
 * @param {string} version
 * @param {string} root the engine goes into its `bin`
 * @param {<T>(title: string, work: Promise<T>) => Promise<T>} step shows a step while it runs
 */
async function buildEngine(version, root, step) {
  const temp = path.join(root, "tmp");
  await fs.mkdir(temp);
  /** @param {string[]} args */
  const go = (...args) => run("go", args, { cwd: __dirname, env: goEnvironment(temp) });

  await checkGo(go);
  await step("downloading its Go modules", go("list", "-deps", PACKAGE));
  const linkerFlags = `-s -w -X ${VERSION_VARIABLE}=v${version}`;
  const executable = path.join(root, "bin", process.platform === "win32" ? "pulumi.exe" : "pulumi");
  const build = go("build", "-trimpath", "-buildvcs=false", "-ldflags", linkerFlags, "-o", executable, PACKAGE);
  await step("compiling it, once per machine (about two minutes on two cores)", build);
  await writeLaunchers(path.join(root, "bin"));
  await fs.rm(temp, { recursive: true });
}

/** @param {(...args: string[]) => Promise<string>} go */
async function checkGo(go) {
  try {
    await go("version");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") throw new Error("there is no go on PATH");
    throw error;
  }
}

/**
 * The user's environment, without what would change the build: the result is the same on every machine of a kind.
 * Proxies and mirrors stay as the user has set them, for go.sum vouches for what comes from them.
 * @param {string} temp an existing folder for what the compiler leaves behind while it works
 * @returns {NodeJS.ProcessEnv}
 */
function goEnvironment(temp) {
  return {
    ...process.env,
    GOFLAGS: "-mod=readonly",
    GOWORK: "off",
    // A Go that is older than go.mod asks for fetches the one that it needs.
    GOTOOLCHAIN: "auto",
    GOOS: GOOS[process.platform] ?? process.platform,
    GOARCH: GOARCH[process.arch] ?? process.arch,
    GOTMPDIR: temp,
    CGO_ENABLED: "0",
  };
}

module.exports = { buildEngine };
