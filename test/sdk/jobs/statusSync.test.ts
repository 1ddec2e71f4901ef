import { ClientClosedError, NotFoundError } from "../../../sdk/errors";
import { WaitTimeoutError } from "../../../sdk/jobs/jobHandle";
import { type QueueOptions, sleeper, startQueue } from "../../support/queue";

/** An observed emulator, and a client that knows it as `runpod`. */
function startRunpod({ emulator, client, ...options }: QueueOptions = {}) {
  return startQueue({
    handler: sleeper,
    ...options,
    emulator: { profile: "observed", ...emulator },
    client: { service: "runpod", ...client },
  });
}

type Runpod = Awaited<ReturnType<typeof startRunpod>>;

const reads = (it: Runpod) => it.calls().filter((call) => call.startsWith("status"));

async function submit(it: Runpod, ms: number) {
  return it.run(it.queue.run({ input: { ms } }));
}

describe("a wait at the service named runpod", () => {
  test("is one request, which the service holds until the job has ended", async () => {
    await using it = await startRunpod();
    const job = await submit(it, 60_000);
    expect((await it.run(job.wait())).output).toEqual({ slept: 60_000 });
    expect(it.calls()).toEqual(["run", "status-sync"]);
    expect(it.emulator.journal.requests({ operation: "status-sync" })[0]).toMatchObject({
      arguments: { wait: "90000", jobId: job.id },
    });
  });

  test("is one request for each 90 s of the job, and sees its end at once", async () => {
    await using it = await startRunpod();
    const job = await submit(it, 200_000);
    const startedAt = it.clock.monotonic();
    await it.run(job.wait());
    expect(reads(it)).toEqual(["status-sync", "status-sync", "status-sync"]);
    expect(it.clock.monotonic() - startedAt).toBeLessThan(202_000);
  });

  test("shares the request with other waits for the job", async () => {
    await using it = await startRunpod();
    const job = await submit(it, 10_000);
    const others = [it.queue.job(job.id).wait(), it.queue.job(job.id).wait()];
    await it.run(Promise.all([job.wait(), ...others]));
    expect(reads(it)).toEqual(["status-sync"]);
  });

  test("polls if it has onStatus, also when a request is held already", async () => {
    await using it = await startRunpod();
    const job = await submit(it, 20_000);
    const held = job.wait();
    await it.clock.advance(1_000);
    const seen: string[] = [];
    await it.run(Promise.all([held, job.wait({ onStatus: (status) => seen.push(status) })]));
    expect(seen).toEqual(["IN_PROGRESS", "COMPLETED"]);
    const [first, ...rest] = reads(it);
    expect(first).toBe("status-sync");
    expect(rest.length).toBeGreaterThan(3);
    expect(new Set(rest)).toEqual(new Set(["status"]));
  });

  test.each([
    404, 400, 403,
  ])("polls after status %d, and then does not ask for a held request again", async (status) => {
    await using it = await startRunpod();
    it.emulator.faults.add({ match: { operation: "status-sync" }, effect: { status } });
    const [first, second] = [await submit(it, 5_000), await submit(it, 5_000)];
    await it.run(first.wait());
    await it.run(second.wait());
    expect(reads(it).filter((call) => call === "status-sync")).toHaveLength(1);
  });

  test("polls at a service that does not have /status-sync", async () => {
    await using it = await startRunpod({ emulator: { profile: "contract" } });
    const job = await submit(it, 5_000);
    expect((await it.run(job.wait())).output).toEqual({ slept: 5_000 });
    expect(reads(it).slice(0, 2)).toEqual(["status-sync", "status"]);
  });

  test("a wait for an unknown job fails, and the next wait may be held", async () => {
    await using it = await startRunpod();
    expect(await it.failure(it.queue.job("none").wait())).toBeInstanceOf(NotFoundError);
    const job = await submit(it, 5_000);
    await it.run(job.wait());
    expect(reads(it)).toEqual(["status-sync", "status", "status-sync"]);
  });

  test.each([
    ["a gateway that ends it", { status: 504 }],
    ["a reset", { reset: true }],
    ["a rate limit", { status: 429 }],
  ])("continues by polls after %s", async (_, effect) => {
    await using it = await startRunpod();
    it.emulator.faults.add({ match: { operation: "status-sync" }, effect, times: 1 });
    const job = await submit(it, 10_000);
    expect((await it.run(job.wait())).output).toEqual({ slept: 10_000 });
    const [first, ...rest] = reads(it);
    expect(first).toBe("status-sync");
    expect(new Set(rest)).toEqual(new Set(["status"]));
  });

  test("does not become a loop without pauses if the service does not hold the request", async () => {
    await using it = await startRunpod();
    const job = await submit(it, 60_000);
    const body = { id: job.id, status: "IN_PROGRESS" };
    it.emulator.faults.add({ match: { operation: "status-sync" }, effect: { status: 200, body } });
    const wait = job.wait({ timeoutMs: 60_000 });
    expect(await it.failure(wait)).toMatchObject({ name: "WaitTimeoutError" });
    expect(reads(it).length).toBeLessThan(30);
  });

  test.each(["timeout", "abort", "close"])("ends its request at a %s", async (how) => {
    await using it = await startRunpod();
    const job = await submit(it, 60_000);
    const controller = new AbortController();
    const reason = new Error("enough");
    const wait = job.wait({ timeoutMs: 2_000, signal: controller.signal }).catch((error: unknown) => error);
    await it.clock.advance(1_000);
    if (how === "timeout") await it.clock.advance(2_000);
    if (how === "abort") controller.abort(reason);
    if (how === "close") await it.client.close();
    const error = await wait;
    if (how === "timeout") expect(error).toBeInstanceOf(WaitTimeoutError);
    if (how === "abort") expect(error).toBe(reason);
    if (how === "close") expect(error).toBeInstanceOf(ClientClosedError);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(it.emulator.journal.requests({ operation: "status-sync", outcome: "pending" })).toEqual([]);
    expect(it.timers()).toBe(0);
  });

  test("cancels its job after an abort with onAbort cancel", async () => {
    await using it = await startRunpod();
    const job = await submit(it, 60_000);
    const controller = new AbortController();
    const wait = job.wait({ signal: controller.signal, onAbort: "cancel" });
    await it.clock.advance(1_000);
    controller.abort(new Error("enough"));
    expect((await it.failure(wait)).message).toBe("enough");
    expect(it.calls().at(-1)).toBe("cancel");
  });

  test("holds 100 requests at most, and polls the other jobs", async () => {
    await using it = await startRunpod({ workers: 150 });
    const jobs = await it.run(Promise.all(Array.from({ length: 150 }, () => it.queue.run({ input: { ms: 20_000 } }))));
    const all = Promise.all(jobs.map((job) => job.wait()));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await it.clock.advance(5_000);
    expect(it.emulator.journal.requests({ operation: "status-sync", outcome: "pending" })).toHaveLength(100);
    await it.run(all);
    const polled = it.emulator.journal.requests({ operation: "status" }).map(({ arguments: { jobId } }) => jobId);
    expect(new Set(polled).size).toBeGreaterThanOrEqual(50);
    expect(it.emulator.journal.requests({ status: 429 })).toEqual([]);
  });
});

test("a wait at a service without a name polls", async () => {
  await using it = await startRunpod({ client: { service: undefined } });
  const job = await submit(it, 5_000);
  await it.run(job.wait());
  expect(reads(it)).not.toContain("status-sync");
});
