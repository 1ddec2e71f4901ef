import { startQueue, stopAll } from "../../support/queueClient";
import { day, handlers, onDemand, podCount, second, submit } from "../../support/workers";

afterEach(stopAll);

describe("scaling", () => {
  test("[workers.request-count] REQUEST_COUNT requests one worker for every scalerValue jobs", async () => {
    const queue = await startQueue({ ...onDemand, scalerType: "REQUEST_COUNT", scalerValue: 3 }, { handlers });
    expect(podCount(queue)).toBe(0);
    const seen: number[] = [];
    for (let n = 0; n < 7; n += 1) {
      await submit(queue, 1);
      seen.push(podCount(queue));
    }
    expect(seen).toEqual([1, 1, 1, 2, 2, 2, 3]);
  });

  test("[workers.queue-delay] QUEUE_DELAY starts a worker for the first job, and more workers when jobs wait too long", async () => {
    const queue = await startQueue({ ...onDemand, scalerType: "QUEUE_DELAY", scalerValue: 4 }, { handlers });
    await submit(queue, 3);
    expect(podCount(queue)).toBe(1);
    await queue.clock.advance(4 * second - 1);
    expect(podCount(queue)).toBe(1);
    await queue.clock.advance(1);
    expect(podCount(queue)).toBe(3);
    expect((await queue.health()).jobs).toMatchObject({ inProgress: 3, inQueue: 0 });
  });

  test("[workers.low-priority] jobs with lowPriority start no worker and use existing ones", async () => {
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
    ])("[workers.idle-request-count] [workers.idle-request-count-time] with idleTimeout %d, workers that the formula does not request stop after 4 s", async (idleTimeout) => {
      const queue = await startQueue({ ...requestCount, workersMin: 1, idleTimeout }, { handlers });
      await submit(queue, 3);
      await queue.clock.advance(10 * second);
      expect((await queue.health()).workers).toEqual({ idle: 3, running: 0 });
      await queue.clock.advance(4 * second - 1);
      expect(podCount(queue)).toBe(3);
      await queue.clock.advance(1);
      expect(podCount(queue)).toBe(1);
    });

    test("[workers.idle-request-count] an idle worker stays as long as the formula requests it", async () => {
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

    test("[workers.idle-request-count] a starting worker stops if its job is purged before it is ready", async () => {
      const queue = await startQueue(requestCount, { handlers, coldStartMs: 10 * second });
      await submit(queue, 2);
      await queue.post("purge-queue");
      await queue.clock.advance(14 * second);
      expect(podCount(queue)).toBe(0);
    });

    test("[workers.idle-timeout] a change of the scaler takes effect immediately for idle workers", async () => {
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

  test("[workers.idle-timeout] changes to idleTimeout and workersMin take effect immediately for idle workers", async () => {
    const queue = await startQueue({ workersMin: 2, workersMax: 2, idleTimeout: 60 });
    await queue.clock.advance(10 * second);
    queue.emulator.endpoints.change(queue.endpointId, { workersMin: 0, idleTimeout: 5 });
    await queue.clock.advance(5 * second);
    expect(podCount(queue)).toBe(0);
  });

  test("[workers.idle-scale-down] workersMax drops to 2 after 3 days without jobs, and to 0 after 7 days", async () => {
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
    expect(queue.emulator.endpoints.get(queue.endpointId)?.version).toBe(version);
  });

  test("[workers.idle-scale-down] saving the endpoint restarts the count of idle days", async () => {
    const queue = await startQueue({ ...onDemand, workersMax: 5 });
    await queue.clock.advance(3 * day);
    queue.emulator.endpoints.change(queue.endpointId, { workersMax: 4 });
    await queue.clock.advance(3 * day - 1);
    expect(queue.emulator.endpoints.get(queue.endpointId)?.workersMax).toBe(4);
  });

  test("[workers.idle-scale-down-minimum] workersMin drops with workersMax, and the workers stop", async () => {
    const queue = await startQueue({ workersMin: 3, workersMax: 3 });
    await queue.clock.advance(7 * day);
    expect(queue.emulator.endpoints.get(queue.endpointId)).toMatchObject({ workersMin: 0, workersMax: 0 });
    await queue.clock.advance(second);
    expect(podCount(queue)).toBe(0);
  });
});
