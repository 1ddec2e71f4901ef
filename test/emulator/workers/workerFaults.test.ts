import { startEmulator } from "../../../emulator";
import { graphql, send } from "../../support/plainClient";
import { startQueue, stopAll } from "../../support/queueClient";
import { PROTOCOL_WORKER, startRealWorkers, stopRealWorkers } from "../../support/realWorkers";

afterEach(async () => {
  await stopAll();
  await stopRealWorkers();
});

const none = { workersMin: 0, workersMax: 1 };

describe("fault rules for workers without a program", () => {
  test("[worker-fault.kill] killWorker ends a worker when it starts a job, and the job is queued again once", async () => {
    const queue = await startQueue();
    const [pod] = queue.pods();
    queue.emulator.faults.add({ effect: { killWorker: true }, times: 1 });
    const once = await queue.run({ n: 1 });
    await queue.clock.runUntilIdle();
    expect(await queue.job(once)).toMatchObject({ status: "COMPLETED", output: { n: 1 }, retries: 1 });
    expect(queue.pods().map(({ id }) => id)).not.toContain(pod?.id);
    queue.emulator.faults.add({ match: { endpointId: queue.endpointId }, effect: { killWorker: true } });
    const twice = await queue.run({ n: 1 });
    await queue.clock.runUntilIdle();
    expect(await queue.job(twice)).toMatchObject({ status: "FAILED", error: "job timed out after 1 retries" });
  });

  test("a worker rule that names requests is refused, because it would never match", async () => {
    const { emulator } = await startQueue();
    const effects = [{ killWorker: true }, { imagePullMs: 5 }, { dropWebhook: true }];
    for (const effect of effects) {
      for (const match of [{ operation: "run" }, { interface: "graphql" as const }]) {
        expect(() => emulator.faults.add({ match, effect })).toThrow('leave "operation" and "interface" out');
      }
    }
  });

  test("[worker-fault.hang] hangWorker keeps a job running until its execution timeout", async () => {
    const queue = await startQueue();
    queue.emulator.faults.add({ match: { nth: 2 }, effect: { hangWorker: true } });
    const [first, second] = [await queue.run({ n: 1 }), await queue.run({}, { policy: { executionTimeout: 60_000 } })];
    await queue.clock.advance(59_000);
    expect([(await queue.job(first)).status, (await queue.job(second)).status]).toEqual(["COMPLETED", "IN_PROGRESS"]);
    await queue.clock.advance(1000);
    expect(await queue.job(second)).toMatchObject({ status: "FAILED", error: "executionTimeout exceeded" });
  });

  test("[worker-fault.throttle] [worker-fault.image-pull] a worker is first throttled, then loads its image, and then starts", async () => {
    const queue = await startQueue(none, { profile: "observed", coldStartMs: 1000 });
    const effect = { throttleWorkerMs: 30_000, imagePullMs: 60_000 };
    queue.emulator.faults.add({ match: { endpointId: queue.endpointId }, effect, times: 1 });
    const id = await queue.run({ n: 1 });
    const states = async () => {
      const { throttled, initializing, idle } = (await queue.health()).workers;
      return { throttled, initializing, idle };
    };
    expect(await states()).toEqual({ throttled: 1, initializing: 0, idle: 0 });
    await queue.clock.advance(30_000);
    expect(await states()).toEqual({ throttled: 0, initializing: 1, idle: 0 });
    await queue.clock.advance(60_999);
    expect((await queue.job(id)).status).toBe("IN_QUEUE");
    await queue.clock.advance(1);
    expect(await queue.job(id)).toMatchObject({ status: "COMPLETED", delayTime: 91_000 });
    expect(queue.emulator.faults.list()).toMatchObject([{ matched: 1, applied: 1 }]);
  });

  test("a throttled worker stops when it is no longer wanted", async () => {
    const queue = await startQueue(none, { profile: "observed" });
    queue.emulator.faults.add({ effect: { throttleWorkerMs: 3_600_000 } });
    await queue.run({ n: 1 });
    queue.emulator.endpoints.change(queue.endpointId, { workersMax: 0 });
    await queue.clock.advance(0);
    expect(queue.pods()).toEqual([]);
  });

  test("a worker rule counts only workers, and a request rule counts only requests", async () => {
    const queue = await startQueue(none);
    queue.emulator.faults.add({ match: { nth: 1 }, effect: { killWorker: true } });
    queue.emulator.faults.add({ match: { nth: 1 }, effect: { latencyMs: 0 } });
    const id = await queue.run({ n: 1 });
    await queue.clock.runUntilIdle();
    expect(await queue.job(id)).toMatchObject({ retries: 1 });
    expect(queue.emulator.faults.list()).toMatchObject([{ applied: 1 }, { applied: 1 }]);
  });

  test.each([
    [{ killWorker: true, hangWorker: true }],
    [{ killWorker: true, imagePullMs: 1 }],
    [{ status: 500, throttleWorkerMs: 1 }],
    [{ imagePullMs: -1 }],
  ])("%j is refused", async (effect) => {
    const queue = await startQueue();
    expect(() => queue.emulator.faults.add({ effect })).toThrow(TypeError);
  });
});

describe("fault rules for real workers", () => {
  test("[worker-fault.kill] [worker-fault.hang] fault rules for real workers end and suspend the process", async () => {
    const { emulator, runSync, output } = await startRealWorkers({ ...PROTOCOL_WORKER, stopMs: 100 });
    emulator.faults.add({ effect: { killWorker: true }, times: 1 });
    expect(await runSync({ echo: 1 })).toMatchObject({ status: "COMPLETED", retries: 1 });
    emulator.faults.add({ effect: { hangWorker: true }, times: 1 });
    const policy = { executionTimeout: 5000 };
    expect(await runSync({ echo: 1 }, { policy })).toMatchObject({ error: "executionTimeout exceeded" });
    expect(await runSync({ echo: 2 })).toMatchObject({ status: "COMPLETED" });
    expect(output("emulator").filter((line) => line.endsWith("was ended by SIGKILL"))).toHaveLength(2);
  });

  test("[worker-fault.image-pull] delay the start of the process", async () => {
    const { emulator, runSync } = await startRealWorkers();
    emulator.faults.add({ effect: { imagePullMs: 700 } });
    const { delayTime } = await runSync({});
    expect(delayTime).toBeGreaterThanOrEqual(700);
  });
});

describe("the worker quota", () => {
  test("[worker-fault.quota] the worker quota can be lowered below the number of running workers, which keep running, but no workersMax can then be raised", async () => {
    await using emulator = await startEmulator({ profile: "contract", workerQuota: 5, coldStartMs: 0 });
    const { id } = emulator.endpoints.create({
      name: "a",
      gpuIds: "ADA_24",
      templateId: "t",
      workersMin: 3,
      workersMax: 4,
    });
    const save = (workersMax: number) =>
      graphql(
        emulator,
        `mutation { saveEndpoint(input: { id: "${id}", name: "a", gpuIds: "ADA_24", templateId: "t", workersMax: ${workersMax} }) { id } }`,
      );
    emulator.setWorkerQuota(2);
    expect(emulator.endpoints.get(id)?.pods).toHaveLength(3);
    expect((await save(5)).body.errors[0].message).toMatch(/quota \(2\).* to at most 2$/);
    expect((await save(3)).body.errors).toBeUndefined();
    const url = `${emulator.url}/_emulator/quota`;
    expect((await send(url, { method: "POST", body: '{"workers":null}' })).status).toBe(204);
    expect((await save(9)).body.errors).toBeUndefined();
    expect((await send(url, { method: "POST", body: '{"workers":-1}' })).status).toBe(400);
    expect(() => emulator.setWorkerQuota(Number.NaN)).toThrow(RangeError);
  });
});
