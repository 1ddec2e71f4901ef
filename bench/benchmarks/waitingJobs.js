const { startEmulator } = require("../../dist/emulator");
const { measure } = require("../processes");

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [jobs, seconds, runs] = quick ? [1_000, 2, 1] : [10_000, 60, 3];
  const heaps = [];
  for (let run = 0; run < runs; run++) {
    const emulator = await startEmulator({ profile: "contract", rateLimits: { limits: "off" } });
    const { id } = emulator.endpoints.create({ name: "asleep", gpuIds: "AMPERE_24", templateId: "t", workersMax: 0 });
    const args = [emulator.url, id, String(jobs), String(seconds)];
    const env = { SERVERLESS_GPU_API_KEY: emulator.apiKey };
    try {
      const { largestHeap, waiting } = /** @type {{ largestHeap: number, waiting: number }} */ (
        await measure("waitForJobs.js", { args, env })
      );
      if (waiting !== jobs) throw new Error(`${waiting} jobs were waited for, not ${jobs}`);
      log(
        `run ${run + 1} of ${runs}: ${waiting} waits, ${emulator.journal.requests({ operation: "status" }).length} reads`,
      );
      heaps.push(largestHeap / 1e6);
    } finally {
      await emulator.stop();
    }
  }
  return [
    {
      what: `client: ${jobs} waiting jobs, largest heap`,
      unit: "MB",
      ours: heaps,
      judged: "value",
      mark: { atMost: 150 },
    },
  ];
}

module.exports = { title: "the client's heap while many jobs are waited for", run };
