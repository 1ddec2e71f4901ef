const { execFileSync } = require("node:child_process");
const path = require("node:path");
const { metered } = require("../metered");
const { timed } = require("../runner");

const COMMAND_LINE = path.resolve(__dirname, "../../dist/cli/main.js");

/** @param {import("../runner").Settings} settings */
async function run({ quick }) {
  const [length, runs] = quick ? ["1h", 1] : ["1d", 3];
  const load = ["--generate", "poisson:11.6/s", "--for", length, "--duration", "1s..5s", "--set", "workersMax=60"];
  const command = {
    /**
     * @param {string[]} args
     * @param {Readonly<Record<string, string>>} env
     */
    pulumi: (args, env) =>
      timed(() => execFileSync(process.execPath, [COMMAND_LINE, ...args], { env: { ...process.env, ...env } })),
  };
  const seconds = [];
  for (let run = 0; run < runs; run++) {
    const { provider } = await metered(command, ["forecast", ...load, "--json"], {});
    seconds.push(provider.seconds);
  }
  return [
    {
      what: "forecast: 20 runs of 1,000,000 jobs, processor time",
      unit: "s",
      ours: seconds,
      judged: "value",
      mark: { atMost: 60 },
    },
  ];
}

module.exports = { title: "a forecast", run };
