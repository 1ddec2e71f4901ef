const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

/**
 * Processor time in seconds; peak memory and heap in use at the end, in megabytes.
 * @typedef {{ seconds: number, megabytes: number, heldMegabytes: number }} Usage
 */

/**
 * Runs a Pulumi command. Returns its time in milliseconds, and the resources that the program's and
 * the provider's processes used.
 * @param {{ pulumi: (args: string[], env: Readonly<Record<string, string>>) => Promise<number> }}
 * stack
 * @param {string[]} args
 * @param {Readonly<Record<string, string>>} env
 * @returns {Promise<{ ms: number, program: Usage, provider: Usage }>}
 */
async function metered(stack, args, env) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bench-meter-"));
  const NODE_OPTIONS = `--require ${path.join(__dirname, "processes/meter.js")}`;
  try {
    const ms = await stack.pulumi(args, { ...env, NODE_OPTIONS, METER_FOLDER: folder });
    return { ms, program: usageOf(folder, "program"), provider: usageOf(folder, "provider") };
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/**
 * Returns what the processes of a kind used together.
 * @param {string} folder
 * @param {string} kind
 * @returns {Usage}
 */
function usageOf(folder, kind) {
  const files = fs.readdirSync(folder).filter((file) => file.startsWith(`${kind}.`));
  return files
    .map((file) => /** @type {Usage} */ (JSON.parse(fs.readFileSync(path.join(folder, file), "utf8"))))
    .reduce(
      (sum, { seconds, megabytes, heldMegabytes }) => ({
        seconds: sum.seconds + seconds,
        megabytes: sum.megabytes + megabytes,
        heldMegabytes: sum.heldMegabytes + heldMegabytes,
      }),
      { seconds: 0, megabytes: 0, heldMegabytes: 0 },
    );
}

module.exports = { metered };
