import fc from "fast-check";
import { startQueue, stopAll } from "../../support/queueClient";
import { handlers, onDemand, podCount, second } from "../../support/workers";

afterEach(stopAll);

describe("draining", () => {
  test("[workers.draining] idle workers stop drainMs after a scale to zero", async () => {
    const queue = await startQueue({ workersMin: 2, workersMax: 2 }, { drainMs: 3 * second });
    queue.emulator.endpoints.change(queue.endpointId, { workersMin: 0, workersMax: 0 });
    await queue.clock.advance(3 * second - 1);
    expect(podCount(queue)).toBe(2);
    expect((await queue.health()).workers).toEqual({ idle: 0, running: 0 });
    await queue.clock.advance(1);
    expect(podCount(queue)).toBe(0);
  });

  test("[workers.draining] a busy worker finishes its job, takes no other job, and stops", async () => {
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

  test("lowering workersMax stops idle workers before busy ones", async () => {
    const queue = await startQueue({ workersMin: 2, workersMax: 2 }, { handlers });
    await queue.run({});
    queue.emulator.endpoints.change(queue.endpointId, { workersMin: 1, workersMax: 1 });
    await queue.clock.advance(0);
    expect((await queue.health()).workers).toEqual({ idle: 0, running: 1 });
    expect(podCount(queue)).toBe(1);
  });

  test("[workers.maximum] draining workers count toward workersMax, so new workers start only when they have stopped", async () => {
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

  test("[workers.maximum] a draining worker counts toward workersMax until it has finished its job and stopped", async () => {
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

  test("[workers.maximum] no sequence of jobs, changes and time steps starts a worker above workersMax", async () => {
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
