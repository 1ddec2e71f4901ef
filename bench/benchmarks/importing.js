const { execFileSync } = require("node:child_process");
const { alternate, timed } = require("../runner");

const PULUMI = 'require("@pulumi/pulumi");';
const OURS = 'require("pulumi-serverless-gpu");';

/** @param {import("../runner").Settings} settings */
async function run({ quick }) {
  const times = await alternate(quick ? 2 : 15, {
    ours: () => timed(() => runSource(PULUMI + OURS)),
    without: () => timed(() => runSource(PULUMI)),
  });
  return [
    {
      what: "a program with the package imported, start to end",
      unit: "ms",
      ours: times.ours,
      against: "without it",
      theirs: times.without,
      judged: "difference",
      mark: { atMost: 60 },
    },
  ];
}

/** @param {string} source */
function runSource(source) {
  execFileSync(process.execPath, ["-e", source], { cwd: __dirname });
}

module.exports = { title: "what importing the package costs a program", run };
