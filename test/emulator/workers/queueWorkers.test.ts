import type { HandlerContext, HandlerJob } from "../../../emulator";
import { getPod } from "../../support/plainClient";
import { startQueue, stopAll } from "../../support/queueClient";
import { day, handlers, onDemand, podCount, second, submit } from "../../support/workers";

afterEach(stopAll);

describe("counts", () => {
  test("[workers.minimum] workersMin workers run even without jobs", async () => {
    const queue = await startQueue({ workersMin: 2, workersMax: 3 });
    expect(podCount(queue)).toBe(2);
    expect((await queue.health()).workers).toEqual({ idle: 2, running: 0 });
    await queue.clock.advance(day);
    expect(podCount(queue)).toBe(2);
  });

  test("[workers.maximum] at most workersMax workers run, and other jobs wait", async () => {
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

  test("[queue.health-totals] ended jobs still count after they are removed", async () => {
    const queue = await startQueue();
    await submit(queue, 3);
    await queue.clock.advance(day);
    expect((await queue.get("requests")).body.requests).toEqual([]);
    expect((await queue.health()).jobs).toMatchObject({ completed: 3 });
  });

  test("[queue.health-observed] the observed profile counts more worker states", async () => {
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

  test("[workers.flashboot] [workers.flashboot-factor] FLASHBOOT reduces the time to a quarter", async () => {
    expect(await coldStart("FLASHBOOT", 20 * second)).toBe(5 * second);
  });
});

test("[workers.version] a worker's pod shows the endpoint's version at the time of its start", async () => {
  const queue = await startQueue({ workersMin: 1, workersMax: 2 });
  queue.emulator.endpoints.change(queue.endpointId, { workersMin: 2 });
  expect(queue.pods().map((pod) => pod.slsVersion)).toEqual([0, 0]);
  queue.emulator.endpoints.change(queue.endpointId, { gpuIds: "ADA_24" });
  const { version } = queue.emulator.endpoints.get(queue.endpointId) ?? { version: Number.NaN };
  expect([version, ...queue.pods().map((pod) => pod.slsVersion)]).toEqual([1, 1, 1]);
  const [, second] = queue.pods();
  const { body } = await getPod(queue.emulator, `${second?.id}?includeWorkers=true`);
  expect(body).toMatchObject({ id: second?.id, endpointId: queue.endpointId, slsVersion: version });
});
