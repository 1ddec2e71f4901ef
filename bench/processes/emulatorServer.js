// An emulator without rate limits, with one endpoint that has completed a job.
const { startEmulator } = require("../../dist/emulator");

async function main() {
  const emulator = await startEmulator({ profile: "contract", coldStartMs: 0, rateLimits: { limits: "off" } });
  const endpoint = { name: "worker", gpuIds: "AMPERE_24", templateId: "template-1", workersMin: 1 };
  const { id: endpointId } = emulator.endpoints.create(endpoint);
  const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
  const submitted = await fetch(`${emulator.url}/v2/${endpointId}/runsync`, {
    method: "POST",
    headers,
    body: JSON.stringify({ input: { prompt: "Hello" } }),
  });
  const { id: jobId } = /** @type {{ id: string }} */ (await submitted.json());
  const path = `/v2/${endpointId}/status/${jobId}`;
  // Otherwise, the result would be deleted after a minute, before the benchmark ends.
  await fetch(`${emulator.url}${path}?ttl=600000`, { headers });
  const body = await (await fetch(emulator.url + path, { headers })).text();
  process.send?.({ port: Number(new URL(emulator.url).port), path, apiKey: emulator.apiKey, body });
}

main();
