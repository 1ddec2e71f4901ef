const { inTurn } = require("../runner");
const { measure } = require("../processes");
const { mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const path = require("node:path");

/** @param {import("../runner").Settings} settings */
async function run({ quick }) {
  const [jobs, runs] = quick ? [1500, 1] : [15_000, 5];
  const time = async (/** @type {string[]} */ ...more) => {
    const { ms } = /** @type {{ ms: number }} */ (await measure("dataFile.js", { args: [String(jobs), ...more] }));
    return ms / 1000;
  };
  const kept = [];
  const plain = [];
  for (let run = 0; run < runs; run++) {
    const folder = mkdtempSync(path.join(tmpdir(), "bench-data-"));
    const times = await inTurn(run, { kept: () => time(path.join(folder, "state.json")), plain: () => time() });
    rmSync(folder, { recursive: true });
    kept.push(times.kept);
    plain.push(times.plain);
  }
  return [
    {
      what: `emulator: ${jobs} jobs with a data file`,
      unit: "s",
      ours: kept,
      against: "without",
      theirs: plain,
      judged: "ratio",
      mark: { atMost: 1.5 },
    },
  ];
}

module.exports = { title: "the emulator's data file", run };
