const { startEmulator } = require("../../dist/emulator");
const { measure } = require("../processes");

/**
 * @typedef {{ completed: number, uncertain: number, failed: number, heaps: number[], seconds:
 * number }} Report
 */

/**
 * Runs a batch at the contract's rate limits while one submit in a hundred loses its response.
 * @param {import("../runner").Settings} settings
 */
async function run({ quick, log }) {
  const jobs = quick ? 500 : 10_000;
  /** @type {Map<unknown, number>} */
  const runs = new Map();
  const emulator = await startEmulator({
    profile: "contract",
    coldStartMs: 0,
    handlers: {
      worker: ({ input }) => {
        runs.set(input.number, (runs.get(input.number) ?? 0) + 1);
        return "x".repeat(1_000);
      },
    },
  });
  const fields = { name: "worker", gpuIds: "AMPERE_24", templateId: "t", workersMin: 10, workersMax: 10 };
  const { id } = emulator.endpoints.create(fields);
  const match = { operation: "run", probability: 0.01 };
  emulator.faults.add({ match, effect: { reset: true, when: "after" } });
  try {
    const args = [emulator.url, id, String(jobs)];
    const env = { SERVERLESS_GPU_API_KEY: emulator.apiKey };
    const { completed, uncertain, failed, heaps, seconds } = /** @type {Report} */ (
      await measure("runMany.js", { args, env, execArgv: ["--expose-gc"] })
    );
    const refused = emulator.journal.requests({ status: 429 }).length;
    log(`${jobs} jobs in ${Math.round(seconds)} s: ${completed} completed, ${uncertain} uncertain, ${refused} refused`);
    log(`heap after each tenth: ${heaps.map((heap) => (heap / 1e6).toFixed(1)).join(", ")} MB`);
    const doubled = [...runs.values()].filter((count) => count > 1).length;
    if (runs.size !== jobs || doubled > 0)
      throw new Error(`${runs.size} of ${jobs} inputs ran, ${doubled} of them twice`);
    if (completed + uncertain !== jobs || failed > 0) throw new Error(`${failed} inputs failed for another reason`);
    const growth = (Math.max(...heaps.slice(5)) - Math.min(...heaps.slice(0, 5))) / 1e6;
    return [
      {
        what: `client: batch of ${jobs} jobs, growth of the heap`,
        unit: "MB",
        ours: [growth],
        judged: "value",
        mark: { atMost: 10 },
      },
      {
        what: `client: batch of ${jobs} jobs, refused requests`,
        unit: "",
        ours: [refused],
        judged: "value",
        mark: { atMost: 0 },
      },
    ];
  } finally {
    await emulator.stop();
  }
}

module.exports = { title: "the client's heap during a batch of jobs, at the rate limits, with lost responses", run };
