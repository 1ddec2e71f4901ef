const { execFileSync } = require("node:child_process");
const path = require("node:path");
const { alternate, timed } = require("../runner");

const COMMAND_LINE = path.resolve(__dirname, "../../dist/cli/main.js");

/** @param {import("../runner").Settings} settings */
async function run({ quick }) {
  const times = await alternate(quick ? 2 : 15, {
    ours: () => timed(() => execFileSync(process.execPath, [COMMAND_LINE, "--help"])),
    bare: () => timed(() => execFileSync(process.execPath, ["-e", ""])),
  });
  return [
    {
      what: "serverless-gpu --help",
      unit: "ms",
      ours: times.ours,
      against: "a Node.js that does nothing",
      theirs: times.bare,
      judged: "difference",
      mark: { atMost: 10 },
    },
    { what: "serverless-gpu --help", unit: "ms", ours: times.ours, judged: "value", mark: { atMost: 70 } },
  ];
}

module.exports = { title: "the start of the command line", run };
