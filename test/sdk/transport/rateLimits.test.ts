import { RATE_LIMITS } from "../../../sdk/contract/limits";
import { startQueue } from "../../support/queue";

/** The most times that lie within any span of `ms`. */
function mostWithin(ms: number, times: readonly number[]): number {
  let most = 0;
  let first = 0;
  times.forEach((at, index) => {
    while ((times[first] as number) <= at - ms) first++;
    most = Math.max(most, index - first + 1);
  });
  return most;
}

describe("the client keeps within the service's limits", () => {
  test.each([
    ["run", 1_500],
    ["cancel", 150],
    ["purge-queue", 7],
    ["requests", 25],
    ["status", 2_100],
    ["stream", 2_100],
    ["openai", 2_100],
    ["runsync", 450],
  ] as const)("%s: %d simultaneous calls are spread over time, and none is refused [contract.rates]", async (operation, count) => {
    await using emulated = await startQueue();
    const { id } = await emulated.run(emulated.queue.run({ input: {} }));
    const calls: Record<typeof operation, () => Promise<unknown>> = {
      run: () => emulated.queue.run({ input: {} }),
      cancel: () => emulated.queue.job(id).cancel(),
      "purge-queue": () => emulated.queue.purgeQueue(),
      requests: () => emulated.queue.requests(),
      status: () => emulated.queue.status(id),
      stream: () => emulated.queue.job(id).stream().next(),
      openai: () => emulated.queue.openai("v1/models"),
      runsync: () => emulated.queue.runSync({ input: {} }),
    };
    await emulated.run(Promise.all<unknown>(Array.from({ length: count }, calls[operation])));
    const requests = emulated.emulator.journal.requests({ operation });
    expect(requests.filter(({ status }) => status !== 200)).toEqual([]);
    const times = requests.map(({ at }) => at);
    expect(mostWithin(10_000, times)).toBeLessThanOrEqual(RATE_LIMITS[operation].perWindow);
  });

  test("all handles of an endpoint share its limits, and other endpoints use separate limits", async () => {
    await using emulated = await startQueue();
    const { id: otherId } = emulated.emulator.endpoints.create({ name: "other", gpuIds: "AMPERE_16", templateId: "t" });
    const purges = [
      emulated.queue,
      emulated.client.endpoint(emulated.endpointId),
      emulated.client.endpoint(otherId),
    ].flatMap((queue) => [queue.purgeQueue(), queue.purgeQueue()]);
    await emulated.run(Promise.all(purges));
    const first = emulated.emulator.journal.requests({ endpointId: emulated.endpointId }).map(({ at }) => at);
    const other = emulated.emulator.journal.requests({ endpointId: otherId }).map(({ at }) => at);
    expect((first[2] as number) - (first[0] as number)).toBeGreaterThanOrEqual(10_000);
    expect((other[1] as number) - (other[0] as number)).toBeLessThan(1_000);
  });

  test("the client halves the rate after a refusal that someone else's requests have caused [contract.rate-exceeded]", async () => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "purge-queue" }, effect: { status: 429 }, times: 1 });
    await emulated.run(Promise.all(Array.from({ length: 4 }, () => emulated.queue.purgeQueue())));
    const times = emulated.emulator.journal.requests({ operation: "purge-queue" }).map(({ at }) => at);
    expect(mostWithin(9_000, times.slice(2))).toBe(1);
  });

  test("the client uses the number of running workers from health if requestsPerWorker is set [contract.rate-workers]", async () => {
    await using emulated = await startQueue({
      workers: 3,
      handler: async (_, { sleep }) => sleep(600_000),
      client: { rateLimits: { requestsPerWorker: 50 } },
    });
    for (let n = 0; n < 3; n++) await emulated.run(emulated.queue.run({ input: {} }));
    const startedAt = emulated.clock.now();
    expect((await emulated.run(emulated.queue.health())).workers.running).toBe(3);
    await emulated.run(Promise.all(Array.from({ length: 100 }, () => emulated.queue.requests())));
    expect(emulated.clock.now() - startedAt).toBeLessThan(10_000);
    expect(emulated.emulator.journal.requests({ operation: "requests", outcome: "error" })).toEqual([]);
  });

  test("the client does not limit requests when rateLimits is off", async () => {
    await using emulated = await startQueue({ client: { rateLimits: "off", retry: { maxAttempts: 1 } } });
    const results = await emulated.run(
      Promise.allSettled(Array.from({ length: 5 }, () => emulated.queue.purgeQueue())),
    );
    expect(results.filter(({ status }) => status === "rejected")).toHaveLength(3);
  });

  test("the client polls at most 180 times a second for 10,000 waiting jobs, over HTTP [contract.rate-status]", async () => {
    await using emulated = await startQueue({ workers: 0, emulator: { coldStartMs: 1_000_000 } });
    const { id } = await emulated.run(emulated.queue.run({ input: {} }));
    // Handles of one job would share their reads, so each of these is of another job that the
    // service knows.
    emulated.emulator.faults.add({
      match: { operation: "status" },
      effect: { status: 200, body: { id, status: "IN_QUEUE" } },
    });
    const waits = Promise.allSettled(
      Array.from({ length: 10_000 }, (_, n) => emulated.queue.job(`job-${n}`).wait({ timeoutMs: 20_000 })),
    );
    const outcomes = await emulated.run(waits);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    const times = emulated.emulator.journal.requests({ operation: "status" }).map(({ at }) => at);
    expect(mostWithin(1_000, times)).toBeLessThanOrEqual(180);
    expect(times.length).toBeGreaterThan(3_000);
    expect(new Set(emulated.emulator.journal.requests({ operation: "status" }).map(({ path }) => path)).size).toBe(
      times.length,
    );
  });
});
