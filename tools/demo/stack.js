const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { stripVTControlCharacters } = require("node:util");

const PROJECT = path.resolve(__dirname, "../..");

/**
 * Creates a stack of the root's Pulumi project, with its state, config and Pulumi home in a scratch
 * folder.
 * @param {import("../pulumi-cli/find").Engine} engine
 * @param {Readonly<Record<string, string>>} serviceEnv
 * @param {boolean} verbose shows the output of Pulumi
 */
function createStack(engine, serviceEnv, verbose) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "serverless-gpu-demo-"));
  // A copy in another folder, because Pulumi writes the stack's config beside Pulumi.yaml.
  const project = fs.readFileSync(path.join(PROJECT, "Pulumi.yaml"), "utf8");
  fs.writeFileSync(path.join(scratch, "Pulumi.yaml"), project.replace(/^main: (.*)$/m, `main: ${PROJECT}/$1`));
  // The emulator's settings only, not those of the shell.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("SERVERLESS_GPU_"));
  const env = {
    ...Object.fromEntries(inherited),
    ...serviceEnv,
    PATH: engine.binDir + path.delimiter + process.env.PATH,
    PULUMI_HOME: path.join(scratch, "home"),
    PULUMI_BACKEND_URL: `file://${scratch}`,
    PULUMI_CONFIG_PASSPHRASE: "demo",
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let running;
  let aborted = false;

  /**
   * Runs one command of Pulumi to its end, and returns its output without colors.
   * @param {readonly string[]} args
   * @param {Readonly<Record<string, string>>} [added] variables of this command alone
   */
  function pulumi(args, added = {}) {
    if (aborted) return Promise.reject(new Error("interrupted"));
    const color = verbose && process.stdout.isTTY ? "always" : "never";
    return /** @type {Promise<string>} */ (
      new Promise((resolve, reject) => {
        const child = spawn(engine.command, [...args, "--non-interactive", "--cwd", scratch, "--color", color], {
          env: { ...env, ...added },
          stdio: ["ignore", "pipe", "pipe"],
        });
        running = child;
        let output = "";
        const collect = (/** @type {NodeJS.WriteStream} */ target) => (/** @type {string} */ chunk) => {
          output += chunk;
          if (verbose) target.write(chunk);
        };
        child.stdout.setEncoding("utf8").on("data", collect(process.stdout));
        child.stderr.setEncoding("utf8").on("data", collect(process.stderr));
        child.on("error", reject);
        child.on("close", (code) => {
          if (code === 0) return resolve(stripVTControlCharacters(output));
          const shown = verbose ? "" : `:\n${output}`;
          reject(new Error(`pulumi ${args.join(" ")} ended with exit code ${code}${shown}`));
        });
      })
    );
  }

  return {
    pulumi,
    prepare: () => pulumi(["stack", "init", "demo"]),
    /** @param {Record<string, string>} values */
    setConfig: (values) =>
      pulumi([
        "config",
        "set-all",
        ...Object.entries(values).flatMap(([key, value]) => ["--plaintext", `${key}=${value}`]),
      ]),
    /**
     * Starts no further commands after Ctrl-C. Pulumi also gets the signal, and ends on its own.
     */
    abort() {
      aborted = true;
    },
    remove() {
      if (running && running.exitCode === null) running.kill("SIGKILL");
      fs.rmSync(scratch, { recursive: true, force: true });
    },
  };
}

module.exports = { createStack };
