const { startEmulator } = require("../../dist/emulator");
const { createClient } = require("../../dist/sdk");

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [requests, runs] = quick ? [100, 1] : [1_000, 3];
  const rates = [];
  for (let run = 0; run < runs; run++) {
    const emulator = await startEmulator({ profile: "contract", coldStartMs: 0 });
    const fields = { name: "app", gpuIds: "AMPERE_24", templateId: "t", type: "LB", scalerType: "REQUEST_COUNT" };
    const { id } = emulator.endpoints.create({ ...fields, scalerValue: 10, workersMax: 5 });
    const client = createClient({ apiKey: emulator.apiKey, queueUrl: emulator.url });
    const endpoint = client.endpoint(id);
    try {
      const startedAt = performance.now();
      let next = 0;
      const worker = async () => {
        while (next < requests) {
          const body = String(next++);
          const response = await endpoint.fetch(`/v1/echo?i=${body}`, { method: "POST", body });
          const echo = /** @type {{ body: string }} */ (await response.json());
          if (response.status !== 200 || echo.body !== body) throw new Error(`request ${body} was not served as sent`);
        }
      };
      await Promise.all(Array.from({ length: 50 }, worker));
      const seconds = (performance.now() - startedAt) / 1000;
      const served = emulator.journal.requests({ interface: "lb", status: 200 }).length;
      if (served !== requests) throw new Error(`${served} requests were served, not ${requests}`);
      log(`run ${run + 1} of ${runs}: ${requests} requests in ${seconds.toFixed(2)} s`);
      rates.push(requests / seconds);
    } finally {
      await client.close();
      await emulator.stop();
    }
  }
  return [
    {
      what: `client: ${requests} requests to a load-balancing endpoint, 50 at once`,
      unit: "requests/s",
      ours: rates,
      judged: "value",
      mark: { atLeast: 100 },
    },
  ];
}

module.exports = { title: "requests to a load-balancing endpoint", run };
