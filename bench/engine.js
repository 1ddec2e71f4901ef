const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { ensurePulumi } = require("../tools/pulumi-cli/ensurePulumi");
const { timed } = require("./runner");

/**
 * Ignored by git, and inside the repository, so that programs in it can import the package and
 * `@pulumi/pulumi`.
 */
const SCRATCH = path.resolve(__dirname, "../.scratch");

/**
 * Returns the part of `Pulumi.yaml` that names the folder of the provider plugin.
 * @param {string} folder
 */
const pluginIn = (folder) => `plugins:
  providers:
    - name: serverless-gpu
      path: ${folder}
`;
const PLUGIN = pluginIn(path.resolve(__dirname, "../plugin/bin"));

/**
 * Creates a project with this program and a stack, with its own Pulumi home and state.
 * @param {string} program the source of its `index.js`
 * @param {Readonly<Record<string, string>>} [serviceEnv]
 * @param {string} [settings] the rest of its `Pulumi.yaml`
 */
async function createStack(program, serviceEnv = {}, settings = "") {
  const { command, binDir } = await ensurePulumi();
  const scratch = createProgramFolder();
  fs.writeFileSync(
    path.join(scratch, "Pulumi.yaml"),
    `name: bench\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n${settings}`,
  );
  fs.writeFileSync(path.join(scratch, "index.js"), program);
  const env = {
    PATH: binDir + path.delimiter + process.env.PATH,
    HOME: path.join(scratch, "home"),
    PULUMI_HOME: path.join(scratch, "home"),
    PULUMI_BACKEND_URL: `file://${scratch}`,
    PULUMI_CONFIG_PASSPHRASE: "bench",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ...serviceEnv,
  };

  /**
   * Runs a command of Pulumi and returns how long it took, in milliseconds.
   * @param {string[]} args
   * @param {Readonly<Record<string, string>>} [programEnv]
   */
  const pulumi = (args, programEnv = {}) =>
    timed(() => run(command, [...args, "--non-interactive"], { cwd: scratch, env: { ...env, ...programEnv } }));

  await pulumi(["stack", "init", "dev"]);
  return {
    pulumi,
    stateBytes: () => fs.statSync(path.join(scratch, ".pulumi/stacks/bench/dev.json")).size,
    remove: () => fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/**
 * Creates a folder for a program, in which the provider that does nothing is installed as `floor`.
 */
function createProgramFolder() {
  fs.mkdirSync(SCRATCH, { recursive: true });
  const folder = fs.mkdtempSync(path.join(SCRATCH, "bench-"));
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "bench", private: true }));
  fs.mkdirSync(path.join(folder, "node_modules/floor"), { recursive: true });
  fs.copyFileSync(path.join(__dirname, "floorProvider.js"), path.join(folder, "node_modules/floor/index.js"));
  return folder;
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 * @returns {Promise<void>}
 */
function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        output += chunk;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`pulumi ${args.join(" ")} ended with exit code ${code}:\n${output}`));
    });
  });
}

/**
 * Without checkpoints, the engine does not write the whole state at every step, which would hide
 * all other costs.
 */
const WITHOUT_CHECKPOINTS = { PULUMI_SKIP_CHECKPOINTS: "true", PULUMI_EXPERIMENTAL: "true" };

module.exports = { PLUGIN, SCRATCH, pluginIn, createStack, createProgramFolder, WITHOUT_CHECKPOINTS };
