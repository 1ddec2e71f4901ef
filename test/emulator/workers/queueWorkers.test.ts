import fc from "fast-check";
import type { HandlerContext, HandlerJob } from "../../../emulator";
import { getPod } from "../../support/plainClient";
import { type QueueTest, startQueue, stopAll } from "../../support/queueClient";

afterEach(stopAll);

const second = 1000;
const day = 24 * 60 * 60 * second;

const handlers = {
  worker: async ({ input }: HandlerJob, { sleep }: HandlerContext) => {
    await sleep((input.sleep as number) ?? 10 * second);
  },
};
const submit = async (queue: QueueTest, count: number, more?: object) => {
  for (let n = 0; n < count; n += 1) await queue.run({ n }, more);
};
const podCount = (queue: QueueTest) => queue.pods().length;
const onDemand = { workersMin: 0, workersMax: 10, idleTimeout: 5 };

describe("counts", () => {
  test("[workers.minimum] workersMin workers are there without any job", async () => {
    const queue = await startQueue({ workersMin: 2, workersMax: 3 });
    expect(podCount(queue)).toBe(2);
    expect((await queue.health()).workers).toEqual({ idle: 2, running: 0 });
    await queue.clock.advance(day);
    expect(podCount(queue)).toBe(2);
  });

  test("[workers.maximum] no more than workersMax workers run; other jobs wait", async () => {
    const queue = await startQueue(
      { ...onDemand, workersMax: 2, scalerType: "REQUEST_COUNT", scalerValue: 1 },
      { handlers },
    );
    await submit(queue, 5);
    await queue.clock.advance(0);
    expect(await queue.health()).toMatchObject({
      jobs: { inProgress: 2, inQueue: 3 },
      workers: { running: 2, idle: 0 },
    });
    await queue.clock.advance(30 * second);
    expect((await queue.health()).jobs).toMatchObject({ completed: 5 });
  });

  test("[queue.health] jobs and workers are counted by state", async () => {
    const worker = (job: HandlerJob, context: HandlerContext) => {
      if (job.input.fail) throw new Error("no");
      return handlers.worker(job, context);
    };
    const queue = await startQueue({ workersMin: 2, workersMax: 2 }, { handlers: { worker } });
    const failed = await queue.run({ fail: true });
    await queue.clock.advance(1);
    await queue.post(`retry/${failed}`);
    await queue.clock.advance(1);
    await submit(queue, 1);
    const { status, body } = await queue.get("health");
    expect([status, body]).toEqual([
      200,
      {
        jobs: { completed: 0, failed: 2, inProgress: 1, inQueue: 0, retried: 1 },
        workers: { idle: 1, running: 1 },
      },
    ]);
  });

  test("[queue.health-totals] ended jobs go on counting when they are forgotten", async () => {
    const queue = await startQueue();
    await submit(queue, 3);
    await queue.clock.advance(day);
    expect((await queue.get("requests")).body.requests).toEqual([]);
    expect((await queue.health()).jobs).toMatchObject({ completed: 3 });
  });

  test("[queue.health-observed] the observed profile counts more states of workers", async () => {
    const queue = await startQueue({ workersMin: 1, workersMax: 3 }, { profile: "observed", coldStartMs: 5 * second });
    expect((await queue.health()).workers).toEqual({
      idle: 0,
      running: 0,
      initializing: 1,
      ready: 0,
      throttled: 0,
      unhealthy: 0,
    });
    await queue.clock.advance(5 * second);
    expect((await queue.health()).workers).toMatchObject({ idle: 1, initializing: 0, ready: 1 });
  });
});

describe("scaling", () => {
  test("[workers.request-count] REQUEST_COUNT wants a worker for each scalerValue jobs", async () => {
    const queue = await startQueue({ ...onDemand, scalerType: "REQUEST_COUNT", scalerValue: 3 }, { handlers });
    expect(podCount(queue)).toBe(0);
    const seen: number[] = [];
    for (let n = 0; n < 7; n += 1) {
      await submit(queue, 1);
      seen.push(podCount(queue));
    }
    expect(seen).toEqual([1, 1, 1, 2, 2, 2, 3]);
  });

  test("[workers.queue-delay] QUEUE_DELAY starts a worker for the first job, more when jobs wait too long", async () => {
    const queue = await startQueue({ ...onDemand, scalerType: "QUEUE_DELAY", scalerValue: 4 }, { handlers });
    await submit(queue, 3);
    expect(podCount(queue)).toBe(1);
    await queue.clock.advance(4 * second - 1);
    expect(podCount(queue)).toBe(1);
    await queue.clock.advance(1);
    expect(podCount(queue)).toBe(3);
    expect((await queue.health()).jobs).toMatchObject({ inProgress: 3, inQueue: 0 });
  });

  test("[workers.low-priority] jobs with lowPriority start no worker, and use those that are there", async () => {
    for (const scalerType of ["REQUEST_COUNT", "QUEUE_DELAY"] as const) {
      const queue = await startQueue({ ...onDemand, scalerType, scalerValue: 1 }, { handlers });
      await submit(queue, 3, { policy: { lowPriority: true } });
      await queue.clock.advance(60 * second);
      expect(podCount(queue)).toBe(0);
      expect((await queue.health()).jobs).toMatchObject({ inQueue: 3 });
      await submit(queue, 1);
      await queue.clock.runUntilIdle();
      expect((await queue.health()).jobs).toMatchObject({ completed: 4 });
    }
  });

  test("[workers.idle-timeout] a worker stops after idleTimeout seconds without a job, down to workersMin", async () => {
    const queue = await startQueue(
      { ...onDemand, workersMin: 1, scalerType: "QUEUE_DELAY", scalerValue: 1 },
      { handlers },
    );
    await submit(queue, 3);
    // The first job starts at once, the other two after a second.
    await queue.clock.advance(11 * second);
    expect((await queue.health()).workers).toEqual({ idle: 3, running: 0 });
    await queue.clock.advance(4 * second - 1);
    expect(podCount(queue)).toBe(3);
    await queue.clock.advance(1);
    expect(podCount(queue)).toBe(2);
    await queue.clock.advance(second);
    expect(podCount(queue)).toBe(1);
    await queue.clock.advance(day);
    expect(podCount(queue)).toBe(1);
  });

  describe("REQUEST_COUNT has no idleTimeout", () => {
    const requestCount = { ...onDemand, scalerType: "REQUEST_COUNT", scalerValue: 1 } as const;

    test.each([
      0, 3600,
    ])("[workers.idle-request-count] [workers.idle-request-count-time] with idleTimeout %d, workers that its formula does not want leave after 4 s", async (idleTimeout) => {
      const queue = await startQueue({ ...requestCount, workersMin: 1, idleTimeout }, { handlers });
      await submit(queue, 3);
      await queue.clock.advance(10 * second);
      expect((await queue.health()).workers).toEqual({ idle: 3, running: 0 });
      await queue.clock.advance(4 * second - 1);
      expect(podCount(queue)).toBe(3);
      await queue.clock.advance(1);
      expect(podCount(queue)).toBe(1);
    });

    test("[workers.idle-request-count] an idle worker stays as long as the formula wants it", async () => {
      const queue = await startQueue({ ...requestCount, idleTimeout: 5 }, { handlers });
      await queue.run({ sleep: 60 * second });
      await queue.run({ sleep: second });
      await queue.clock.advance(2 * second);
      await queue.run({ sleep: 58 * second });
      await queue.clock.advance(57 * second);
      expect((await queue.health()).workers).toEqual({ idle: 0, running: 2 });
      await queue.clock.advance(second);
      expect((await queue.health()).workers).toEqual({ idle: 2, running: 0 });
      await queue.clock.advance(4 * second);
      expect(podCount(queue)).toBe(0);
    });

    test("[workers.idle-request-count] a worker that starts for a job that was purged meanwhile leaves", async () => {
      const queue = await startQueue(requestCount, { handlers, coldStartMs: 10 * second });
      await submit(queue, 2);
      await queue.post("purge-queue");
      await queue.clock.advance(14 * second);
      expect(podCount(queue)).toBe(0);
    });

    test("[workers.idle-timeout] a change of the scaler holds at once for workers that are idle", async () => {
      const queue = await startQueue({ ...requestCount, workersMin: 2, idleTimeout: 60 });
      queue.emulator.endpoints.change(queue.endpointId, { workersMin: 0, scalerType: "QUEUE_DELAY" });
      await queue.clock.advance(60 * second - 1);
      expect(podCount(queue)).toBe(2);
      queue.emulator.endpoints.change(queue.endpointId, { scalerType: "REQUEST_COUNT" });
      await queue.clock.advance(4 * second - 1);
      expect(podCount(queue)).toBe(2);
      await queue.clock.advance(1);
      expect(podCount(queue)).toBe(0);
    });
  });

  test("[workers.idle-timeout] a changed idleTimeout and workersMin hold at once for workers that are idle", async () => {
    const queue = await startQueue({ workersMin: 2, workersMax: 2, idleTimeout: 60 });
    await queue.clock.advance(10 * second);
    queue.emulator.endpoints.change(queue.endpointId, { workersMin: 0, idleTimeout: 5 });
    await queue.clock.advance(5 * second);
    expect(podCount(queue)).toBe(0);
  });

  test("[workers.idle-scale-down] workersMax drops to 2 after 3 days without jobs, to 0 after 7", async () => {
    const queue = await startQueue({ ...onDemand, workersMax: 5 });
    const workersMax = () => queue.emulator.endpoints.get(queue.endpointId)?.workersMax;
    await queue.clock.advance(2 * day);
    await submit(queue, 1);
    await queue.clock.advance(3 * day - 1);
    expect(workersMax()).toBe(5);
    await queue.clock.advance(1);
    expect(workersMax()).toBe(2);
    await queue.clock.advance(4 * day - 1);
    expect(workersMax()).toBe(2);
    const { version } = queue.emulator.endpoints.get(queue.endpointId) ?? { version: Number.NaN };
    await queue.clock.advance(1);
    expect(workersMax()).toBe(0);
    expect(queue.emulator.endpoints.get(queue.endpointId)?.version).toBe(version + 1);
  });

  test("[workers.idle-scale-down] saving the endpoint starts the days anew", async () => {
    const queue = await startQueue({ ...onDemand, workersMax: 5 });
    await queue.clock.advance(3 * day);
    queue.emulator.endpoints.change(queue.endpointId, { workersMax: 4 });
    await queue.clock.advance(3 * day - 1);
    expect(queue.emulator.endpoints.get(queue.endpointId)?.workersMax).toBe(4);
  });

  test("[workers.idle-scale-down-minimum] workersMin drops with it, and the workers leave", async () => {
    const queue = await startQueue({ workersMin: 3, workersMax: 3 });
    await queue.clock.advance(7 * day);
    expect(queue.emulator.endpoints.get(queue.endpointId)).toMatchObject({ workersMin: 0, workersMax: 0 });
    await queue.clock.advance(second);
    expect(podCount(queue)).toBe(0);
  });
});

describe("cold starts", () => {
  const coldStart = async (flashBootType: "FLASHBOOT" | undefined, coldStartMs?: number) => {
    const options = coldStartMs === undefined ? { coldStartMs: undefined } : { coldStartMs };
    const queue = await startQueue({ ...onDemand, flashBootType }, options as { coldStartMs: number });
    const id = await queue.run({});
    await queue.clock.runUntilIdle();
    return (await queue.job(id)).delayTime;
  };

  test("[workers.cold-start] a job waits until its worker has started", async () => {
    expect(await coldStart(undefined)).toBe(200);
    expect(await coldStart(undefined, 20 * second)).toBe(20 * second);
  });

  test("[workers.flashboot] [workers.flashboot-factor] FLASHBOOT takes a quarter of the time", async () => {
    expect(await coldStart("FLASHBOOT", 20 * second)).toBe(5 * second);
  });
});

describe("draining", () => {
  test("[workers.draining] after a scale to zero idle workers leave after drainMs", async () => {
    const queue = await startQueue({ workersMin: 2, workersMax: 2 }, { drainMs: 3 * second });
    queue.emulator.endpoints.change(queue.endpointId, { workersMin: 0, workersMax: 0 });
    await queue.clock.advance(3 * second - 1);
    expect(podCount(queue)).toBe(2);
    expect((await queue.health()).workers).toEqual({ idle: 0, running: 0 });
    await queue.clock.advance(1);
    expect(podCount(queue)).toBe(0);
  });

  test("[workers.draining] a busy worker finishes its job, takes no other, and leaves", async () => {
    const queue = await startQueue({}, { drainMs: 3 * second, handlers });
    const [running, waiting] = [await queue.run({ sleep: 20 * second }), await queue.run({})];
    queue.emulator.endpoints.change(queue.endpointId, { workersMin: 0, workersMax: 0 });
    await queue.clock.advance(20 * second);
    expect((await queue.job(running)).status).toBe("COMPLETED");
    expect((await queue.job(waiting)).status).toBe("IN_QUEUE");
    expect(podCount(queue)).toBe(1);
    await queue.clock.advance(3 * second);
    expect(podCount(queue)).toBe(0);
  });

  test("a lowered workersMax lets idle workers go before busy ones", async () => {
    const queue = await startQueue({ workersMin: 2, workersMax: 2 }, { handlers });
    await queue.run({});
    queue.emulator.endpoints.change(queue.endpointId, { workersMin: 1, workersMax: 1 });
    await queue.clock.advance(0);
    expect((await queue.health()).workers).toEqual({ idle: 0, running: 1 });
    expect(podCount(queue)).toBe(1);
  });

  test("[workers.maximum] workers that drain count: new ones start when they have left", async () => {
    const queue = await startQueue({ workersMin: 3, workersMax: 3 }, { drainMs: 3 * second });
    const old = queue.pods().map((pod) => pod.id);
    for (let n = 0; n < 5; n += 1) {
      queue.emulator.endpoints.change(queue.endpointId, { workersMin: 0, workersMax: 0 });
      queue.emulator.endpoints.change(queue.endpointId, { workersMin: 3, workersMax: 3 });
    }
    expect(queue.pods().map((pod) => pod.id)).toEqual(old);
    await queue.clock.advance(3 * second);
    expect(queue.pods()).toHaveLength(3);
    for (const { id } of queue.pods()) expect(old).not.toContain(id);
    expect((await queue.health()).workers).toEqual({ idle: 3, running: 0 });
  });

  test("[workers.maximum] a worker that finishes its job before it leaves keeps its place", async () => {
    const queue = await startQueue({ workersMin: 1, workersMax: 1 }, { drainMs: 3 * second, handlers });
    await queue.run({ sleep: 20 * second });
    queue.emulator.endpoints.change(queue.endpointId, { workersMin: 0, workersMax: 0 });
    queue.emulator.endpoints.change(queue.endpointId, { workersMin: 0, workersMax: 1 });
    const next = await queue.run({ sleep: second });
    await queue.clock.advance(23 * second - 1);
    expect([podCount(queue), (await queue.job(next)).status]).toEqual([1, "IN_QUEUE"]);
    await queue.clock.advance(1 + second);
    expect([podCount(queue), (await queue.job(next)).status]).toEqual([1, "COMPLETED"]);
  });

  test("[workers.maximum] no sequence of jobs, changes and time starts a worker above workersMax", async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("scale" as const),
        min: fc.integer({ min: 0, max: 4 }),
        max: fc.integer({ min: 0, max: 6 }),
      }),
      fc.record({ kind: fc.constant("run" as const), sleep: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ kind: fc.constant("pass" as const), seconds: fc.integer({ min: 0, max: 8 }) }),
    );
    const scalerTypes = fc.constantFrom("REQUEST_COUNT" as const, "QUEUE_DELAY" as const);
    await fc.assert(
      fc.asyncProperty(scalerTypes, fc.array(step, { maxLength: 25 }), async (scalerType, steps) => {
        const endpoint = { ...onDemand, workersMax: 3, scalerType, scalerValue: 1 };
        const queue = await startQueue(endpoint, { drainMs: 3 * second, coldStartMs: second, handlers });
        let known = new Set<string>();
        for (const action of steps) {
          if (action.kind === "run") await queue.run({ sleep: action.sleep * second });
          else if (action.kind === "pass") await queue.clock.advance(action.seconds * second);
          else {
            const change = { workersMin: Math.min(action.min, action.max), workersMax: action.max };
            queue.emulator.endpoints.change(queue.endpointId, change);
          }
          const ids = queue.pods().map(({ id }) => id);
          const { workersMax } = queue.emulator.endpoints.get(queue.endpointId) ?? { workersMax: Number.NaN };
          if (ids.some((id) => !known.has(id))) expect(ids.length).toBeLessThanOrEqual(workersMax);
          known = new Set(ids);
        }
        queue.emulator.endpoints.change(queue.endpointId, { workersMin: 2, workersMax: 3 });
        await queue.clock.advance(600 * second);
        expect((await queue.health()).jobs).toMatchObject({ inQueue: 0, inProgress: 0 });
        expect(podCount(queue)).toBe(2);
        await stopAll();
      }),
      { numRuns: 40 },
    );
  });
});

test("[workers.version] a worker's pod shows the endpoint's version when it was started", async () => {
  const queue = await startQueue({ workersMin: 1, workersMax: 2 });
  queue.emulator.endpoints.change(queue.endpointId, { workersMin: 2 });
  const { version } = queue.emulator.endpoints.get(queue.endpointId) ?? { version: Number.NaN };
  expect(queue.pods().map((pod) => pod.slsVersion)).toEqual([version - 1, version]);
  const [, second] = queue.pods();
  const { body } = await getPod(queue.emulator, `${second?.id}?includeWorkers=true`);
  expect(body).toMatchObject({ id: second?.id, endpointId: queue.endpointId, slsVersion: version });
});
