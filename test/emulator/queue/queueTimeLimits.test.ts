import { startQueue, stopAll } from "../../support/queueClient";
import { handlers } from "../../support/scriptedWorker";

afterEach(stopAll);

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

describe("time limits", () => {
  test.each([
    ["its own executionTimeout", { executionTimeout: 5 * second }, 5 * second],
    ["the default of 10 minutes", undefined, 10 * minute],
  ])("[queue.execution-timeout] [queue.execution-timeout-limits] a job fails after %s", async (_, policy, limit) => {
    const queue = await startQueue({}, { handlers });
    await queue.run({ sleep: minute });
    const id = await queue.run({ hang: true }, { policy });
    await queue.clock.advance(minute + limit - 1);
    expect((await queue.job(id)).status).toBe("IN_PROGRESS");
    await queue.clock.advance(1);
    expect(await queue.job(id)).toMatchObject({
      status: "FAILED",
      error: "executionTimeout exceeded",
      executionTime: limit,
    });
  });

  test.each([
    ["the endpoint's limit", undefined, 30 * minute],
    ["its own limit, which wins", { executionTimeout: 5 * second }, 5 * second],
  ])("[save.execution-timeout] a job fails after %s", async (_, policy, limit) => {
    const queue = await startQueue({ executionTimeoutMs: 30 * minute }, { handlers });
    const id = await queue.run({ hang: true }, { policy });
    await queue.clock.advance(limit - 1);
    expect((await queue.job(id)).status).toBe("IN_PROGRESS");
    await queue.clock.advance(1);
    expect(await queue.job(id)).toMatchObject({ status: "FAILED", executionTime: limit });
  });

  test("[save.execution-timeout] an execution timeout of 0 means that the endpoint sets no limit", async () => {
    const queue = await startQueue({ executionTimeoutMs: 0 }, { handlers });
    const id = await queue.run({ hang: true });
    await queue.clock.advance(23 * hour);
    expect((await queue.job(id)).status).toBe("IN_PROGRESS");
    expect((await queue.post("run", { input: { n: 1 }, policy: { executionTimeout: 0 } })).status).toBe(400);
  });

  test.each([
    ["its own ttl", { ttl: 10 * second }, 10 * second],
    ["the default of 24 hours", { executionTimeout: 7 * 24 * hour }, 24 * hour],
  ])("[queue.ttl] [queue.ttl-limits] a running job is deleted after %s", async (_, policy, ttl) => {
    const queue = await startQueue({}, { handlers });
    const id = await queue.run({ hang: true }, { policy });
    await queue.clock.advance(ttl - 1);
    expect((await queue.job(id)).status).toBe("IN_PROGRESS");
    await queue.clock.advance(1);
    expect((await queue.get(`status/${id}`)).status).toBe(404);
    expect((await queue.health()).workers).toEqual({ idle: 1, running: 0 });
  });

  test("[queue.ttl] waiting and ended jobs are also deleted", async () => {
    const queue = await startQueue({}, { handlers });
    const ended = await queue.run({}, { policy: { ttl: minute } });
    await queue.clock.advance(0);
    await queue.run({ hang: true });
    const waiting = await queue.run({}, { policy: { ttl: minute } });
    await queue.clock.advance(minute);
    for (const id of [ended, waiting]) expect((await queue.get(`status/${id}`)).status).toBe(404);
    expect((await queue.health()).jobs.inQueue).toBe(0);
  });

  test("[queue.ttl] the ttl includes the time in the queue, so a job that starts late can run only for the rest of it", async () => {
    const queue = await startQueue({}, { handlers });
    await queue.run({ sleep: 2 * hour }, { policy: { executionTimeout: 3 * hour } });
    const policy = { ttl: 5 * hour, executionTimeout: 24 * hour };
    const id = await queue.run({ hang: true }, { policy });
    await queue.clock.advance(5 * hour - 1);
    expect(await queue.job(id)).toMatchObject({ status: "IN_PROGRESS", executionTime: 3 * hour - 1 });
    await queue.clock.advance(1);
    expect((await queue.get(`status/${id}`)).status).toBe(404);
  });

  test("[queue.status-ttl] the ttl parameter of /status is counted from the submission", async () => {
    const queue = await startQueue({}, { handlers });
    const [id, late] = [await queue.run({ hang: true }), await queue.run({})];
    await queue.clock.advance(20 * second);
    expect((await queue.get(`status/${id}?ttl=30000`)).body.status).toBe("IN_PROGRESS");
    expect((await queue.get(`status/${late}?ttl=15000`)).status).toBe(404);
    await queue.clock.advance(10 * second);
    expect((await queue.get(`status/${id}`)).status).toBe(404);
    expect((await queue.health()).jobs).toMatchObject({ inProgress: 0, inQueue: 0 });
  });

  test.each([
    ["run", 30 * minute],
    ["runsync", minute],
  ])("[queue.retention] [queue.forgotten] the result of /%s is kept for its retention time after the job has ended", async (operation, kept) => {
    const queue = await startQueue({}, { handlers });
    const { answer } = await queue.begin(operation, { input: { sleep: 5 * second } });
    await queue.clock.advance(5 * second);
    const { id } = (await answer).body;
    await queue.clock.advance(kept - 1);
    expect((await queue.job(id)).status).toBe("COMPLETED");
    await queue.clock.advance(1);
    for (const path of ["status", "stream"]) expect((await queue.get(`${path}/${id}`)).status).toBe(404);
    for (const path of ["cancel", "retry"]) expect((await queue.post(`${path}/${id}`)).status).toBe(404);
  });

  test("[queue.retention-max] the query parameter ttl keeps the result of /runsync for up to 5 minutes", async () => {
    const queue = await startQueue({}, { handlers });
    const { answer } = await queue.begin("runsync", { input: { sleep: second } });
    await queue.clock.advance(second);
    const { id } = (await answer).body;
    await queue.get(`status/${id}?ttl=3600000`);
    await queue.clock.advance(5 * minute - 1);
    expect((await queue.job(id)).status).toBe("COMPLETED");
    await queue.clock.advance(1);
    expect((await queue.get(`status/${id}`)).status).toBe(404);
  });
});
