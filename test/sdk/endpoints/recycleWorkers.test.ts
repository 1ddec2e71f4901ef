import { startEmulated } from "../../support/emulated";

const WORKERS = { workersMin: 0, workersMax: 2 };
const JOB_MS = 60_000;
const handlers = {
  default: async (_job: unknown, { sleep }: { sleep: (ms: number) => Promise<void> }) => {
    await sleep(JOB_MS);
    return "done";
  },
};

async function startWithJob() {
  const service = await startEmulated({ emulator: { handlers, coldStartMs: 100 } });
  const fields = { id: "e1", name: "llama", gpuIds: "ADA_24", templateId: "t", idleTimeout: 77, ...WORKERS };
  service.emulator.endpoints.create(fields);
  const job = await service.run(service.client.endpoint("e1").run({ input: {} }));
  while ((await service.run(job.status())).status !== "IN_PROGRESS") await service.clock.advance(100);
  return { ...service, run: service.run, job };
}

test("a recycle waits for the running job and restores the workers", async () => {
  const { client, emulator, run, job, ...service } = await startWithJob();
  const recycled = await run(client.endpoints.recycleWorkers("e1", WORKERS));
  expect(recycled).toMatchObject({ ...WORKERS, idleTimeout: 77 });
  expect((await run(job.wait())).output).toBe("done");
  const saved = emulator.journal.requests({ operation: "saveEndpoint" }).map((request) => request.arguments.input);
  expect(saved).toMatchObject([{ workersMin: 0, workersMax: 0 }, WORKERS]);
  await service[Symbol.asyncDispose]();
});

test("a recycle that times out restores the endpoint's workers", async () => {
  const { client, emulator, run, ...service } = await startWithJob();
  const recycling = run(client.endpoints.recycleWorkers("e1", WORKERS, { drainTimeoutMs: 20_000 }));
  await expect(recycling).rejects.toThrow(expect.objectContaining({ code: "RECYCLE_TIMEOUT" }));
  expect(emulator.endpoints.get("e1")).toMatchObject(WORKERS);
  await service[Symbol.asyncDispose]();
});
