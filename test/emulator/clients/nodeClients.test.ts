import { startEmulator } from "../../../emulator";
import { describeClients, runClient } from "../../support/realClients";

describeClients("node", "the service's client for Node.js, unchanged, in the observed profile", () => {
  test("[queue.stream-hold] [queue.short-execution-timeout] a Node.js client submits, follows, streams and cancels jobs", async () => {
    const handlers = {
      worker: async function* ({ input }: { input: Readonly<Record<string, unknown>> }) {
        if (input.wait) await new Promise(() => {});
        for (const word of ["one", "two"]) {
          await new Promise((resolve) => setTimeout(resolve, 1500));
          yield word;
        }
        return { echo: input.n };
      },
    };
    await using emulator = await startEmulator({ profile: "observed", handlers, coldStartMs: 0 });
    const { id } = emulator.endpoints.create({ name: "worker", gpuIds: "ADA_24", templateId: "t" });
    const output = await runClient(
      "node",
      `
const { default: createClient } = require("runpod-sdk");
(async () => {
  const endpoint = createClient("${emulator.apiKey}", { baseUrl: "${emulator.url}/v2" }).endpoint("${id}");
  const { id: jobId } = await endpoint.run({ input: { n: 1 }, policy: { executionTimeout: 3000 } });
  const early = await endpoint.status(jobId);
  await endpoint.cancel(jobId);
  const job = await endpoint.run({ input: { n: 2 } });
  const streamed = [];
  for await (const item of endpoint.stream(job.id)) streamed.push(item.output);
  const status = await endpoint.status(job.id);
  const sync = await endpoint.runSync({ input: { n: 3 } });
  const waits = await endpoint.run({ input: { wait: true } });
  const cancelled = await endpoint.cancel(waits.id);
  console.log(JSON.stringify({ early, streamed, status, sync, cancelled, health: await endpoint.health(), purged: await endpoint.purgeQueue() }));
})();`,
      {},
    );
    expect(output).toMatchObject({
      streamed: ["one", "two"],
      status: { status: "COMPLETED", output: { echo: 2 } },
      sync: { status: "COMPLETED", output: { echo: 3 } },
      cancelled: { status: "CANCELLED" },
      health: { jobs: { completed: 2 } },
    });
    expect(["IN_QUEUE", "IN_PROGRESS"]).toContain(output.early.status);
    expect(emulator.journal.requests({ status: 429 })).toEqual([]);
  });
});
