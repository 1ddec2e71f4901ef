const { measure } = require("../processes");

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [jobs, runs] = quick ? [20_000, 1] : [1_000_000, 5];
  const seconds = [];
  const growth = [];
  for (let run = 0; run < runs; run++) {
    const { ms, completed, heaps } = /** @type {{ ms: number, completed: number, heaps: number[] }} */ (
      await measure("virtualDay.js", { args: [String(jobs)], execArgv: ["--expose-gc"] })
    );
    if (completed !== jobs) throw new Error(`${completed} jobs completed, not ${jobs}`);
    log(`run ${run + 1} of ${runs}: heap of each hour in MB: ${heaps.map((heap) => Math.round(heap / 1e6)).join(" ")}`);
    seconds.push(ms / 1000);
    // Measure from the second hour on, because the results of the last half hour are kept in
    // memory.
    growth.push((heaps.at(-1) ?? 0) / (heaps[1] ?? 0));
  }
  const what = `emulator: ${jobs.toLocaleString("en")} jobs over a simulated day`;
  return [
    { what, unit: "s", ours: seconds, judged: "value", mark: { atMost: 20 } },
    { what: `${what}: heap at its end over hour 2`, unit: "×", ours: growth, judged: "value", mark: { atMost: 1.1 } },
  ];
}

module.exports = { title: "the emulator's virtual time", run };
