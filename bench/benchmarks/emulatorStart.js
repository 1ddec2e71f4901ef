const { measure } = require("../processes");

/** @param {import("../runner").Settings} settings */
async function run({ quick }) {
  const [count, runs] = quick ? [30, 2] : [300, 10];
  const ready = [];
  const reset = [];
  for (let run = 0; run < runs; run++) {
    const { readyMs, resetMs } = /** @type {{ readyMs: number, resetMs: number }} */ (
      await measure("startEmulator.js", { args: [String(count)] })
    );
    ready.push(readyMs);
    reset.push(resetMs);
  }
  return [
    { what: "emulator: import to ready", unit: "ms", ours: ready, judged: "value", mark: { atMost: 300 } },
    {
      what: `emulator: reset with ${count} endpoints and jobs`,
      unit: "ms",
      ours: reset,
      judged: "value",
      mark: { atMost: 10 },
    },
  ];
}

module.exports = { title: "the emulator's start and reset", run };
