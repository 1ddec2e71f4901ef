// Reports how long an emulator takes to start in a process that has loaded nothing yet, and to
// reset when it contains endpoints, jobs and requests, in milliseconds. Argument: the number of
// each.
const startedAt = performance.now();
const { startEmulator } = require("../../dist/emulator");

async function main() {
  const count = Number(process.argv[2]);
  const emulator = await startEmulator({ profile: "contract", rateLimits: { limits: "off" } });
  const readyMs = performance.now() - startedAt;

  const endpoint = { gpuIds: "AMPERE_24", templateId: "template-1", workersMin: 0, workersMax: 0 };
  for (let number = 1; number <= count; number++)
    emulator.endpoints.create({ ...endpoint, name: `endpoint-${number}` });
  const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
  for (const { id } of emulator.endpoints.list()) {
    const body = JSON.stringify({ input: { prompt: "Hello" } });
    await (await fetch(`${emulator.url}/v2/${id}/run`, { method: "POST", headers, body })).text();
  }
  const resetAt = performance.now();
  emulator.reset();
  process.send?.({ readyMs, resetMs: performance.now() - resetAt });
}

main();
