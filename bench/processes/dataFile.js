// Reports how long an emulator takes for jobs from `/run` to COMPLETED, in milliseconds. Arguments:
// the number of jobs, and the data file, if any.
const { startEmulator } = require("../../dist/emulator");

const IN_FLIGHT = 64;

async function main() {
  const [count, dataFile] = process.argv.slice(2);
  const emulator = await startEmulator({
    profile: "contract",
    ...(dataFile && { dataFile }),
    coldStartMs: 0,
    rateLimits: { limits: "off" },
    handlers: { default: () => "done" },
  });
  const endpoint = { name: "worker", gpuIds: "AMPERE_24", templateId: "template-1", workersMin: 3 };
  const { id } = emulator.endpoints.create(endpoint);
  const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ input: { prompt: "Hello" } });
  let left = Number(count);
  async function sendJobs() {
    while (left-- > 0)
      await (await fetch(`${emulator.url}/v2/${id}/runsync`, { method: "POST", headers, body })).text();
  }
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, sendJobs));
  const ms = performance.now() - startedAt;
  await emulator.stop();
  process.send?.({ ms });
}

main();
