import { startQueue, stopAll } from "../../support/queueClient";

afterEach(stopAll);

const second = 1000;
const handlers = {
  worker: async (_: unknown, { sleep }: { sleep(ms: number): Promise<void> }) => {
    await sleep(20 * second);
    return "done";
  },
};
const options = { handlers, profile: "observed" } as const;

describe("/status-sync", () => {
  test("[queue.status-sync] /status-sync returns the record of the job when it has ended", async () => {
    const queue = await startQueue({}, options);
    const id = await queue.run({ n: 1 });
    const { answer } = await queue.begin(`status-sync/${id}?wait=60000`, undefined, "GET");
    await queue.clock.advance(20 * second);
    expect((await answer).body).toMatchObject({ id, status: "COMPLETED", output: "done", executionTime: 20 * second });
    expect((await queue.get(`status-sync/${id}`)).body).toMatchObject({ status: "COMPLETED" });
  });

  test("[queue.status-sync] /status-sync returns the current record of the job when the wait elapses", async () => {
    const queue = await startQueue({}, options);
    const id = await queue.run({ n: 1 });
    const { answer } = await queue.begin(`status-sync/${id}?wait=5000`, undefined, "GET");
    await queue.clock.advance(5 * second);
    expect((await answer).body).toMatchObject({ id, status: "IN_PROGRESS", executionTime: 5 * second });
  });

  test("[queue.status-sync] /status-sync returns 404 for an unknown job and for a job that is deleted during the wait", async () => {
    const queue = await startQueue({ workersMin: 0, workersMax: 0 }, options);
    expect((await queue.get("status-sync/none")).status).toBe(404);
    const id = await queue.run({ n: 1 });
    const { answer } = await queue.begin(`status-sync/${id}`, undefined, "GET");
    await queue.post("purge-queue");
    expect((await answer).status).toBe(404);
  });

  test("[queue.status-sync-wait] /status-sync accepts a wait from 1,000 to 300,000 ms", async () => {
    const queue = await startQueue({}, options);
    const id = await queue.run({ n: 1 });
    await queue.clock.advance(20 * second);
    const statusOf = async (wait: number) => (await queue.get(`status-sync/${id}?wait=${wait}`)).status;
    expect(await Promise.all([999, 1000, 300_000, 300_001].map(statusOf))).toEqual([400, 200, 200, 400]);
  });

  test("[queue.status-sync-limit] /status-sync counts toward the limits of /status", async () => {
    const queue = await startQueue({}, { ...options, rateLimits: { limits: { status: { perWindow: 2 } } } });
    const statuses = [];
    for (const path of ["status/none", "status-sync/none", "status-sync/none"]) {
      statuses.push((await queue.get(path)).status);
    }
    expect(statuses).toEqual([404, 404, 429]);
  });

  test("[queue.unknown-operation] /status-sync is an unknown operation in the contract profile", async () => {
    const queue = await startQueue();
    const id = await queue.run({ n: 1 });
    const { status, body } = await queue.get(`status-sync/${id}`);
    expect([status, body.detail]).toEqual([404, `unknown operation GET /status-sync/${id}`]);
  });
});
