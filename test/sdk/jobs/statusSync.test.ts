import { NotFoundError } from "../../../sdk/errors/errors";
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

const reads = (emulated: Runpod) => emulated.calls().filter((call) => call.startsWith("status"));

async function submit(emulated: Runpod, ms: number) {
  return emulated.run(emulated.queue.run({ input: { ms } }));
}

describe("a wait at the service named runpod", () => {
  test("a wait at the service named runpod needs only one request, which the service holds until the job has ended", async () => {
    await using emulated = await startRunpod();
    const job = await submit(emulated, 60_000);
    expect((await emulated.run(job.wait())).output).toEqual({ slept: 60_000 });
    expect(emulated.calls()).toEqual(["run", "status-sync"]);
    expect(emulated.emulator.journal.requests({ operation: "status-sync" })[0]).toMatchObject({
      arguments: { wait: "90000", jobId: job.id },
    });
  });

  test("a wait at the service named runpod needs one request for every 90 s that the job runs, and notices the job's end immediately", async () => {
    await using emulated = await startRunpod();
    const job = await submit(emulated, 200_000);
    const startedAt = emulated.clock.monotonic();
    await emulated.run(job.wait());
    expect(reads(emulated)).toEqual(["status-sync", "status-sync", "status-sync"]);
    expect(emulated.clock.monotonic() - startedAt).toBeLessThan(202_000);
  });

  test("a wait at the service named runpod shares the request with other waits for the job", async () => {
    await using emulated = await startRunpod();
    const job = await submit(emulated, 10_000);
    const others = [emulated.queue.job(job.id).wait(), emulated.queue.job(job.id).wait()];
    await emulated.run(Promise.all([job.wait(), ...others]));
    expect(reads(emulated)).toEqual(["status-sync"]);
  });

  test("a wait at the service named runpod polls if onStatus is set, even when a request is already being held", async () => {
    await using emulated = await startRunpod();
    const job = await submit(emulated, 20_000);
    const held = job.wait();
    await emulated.clock.advance(1_000);
    const seen: string[] = [];
    await emulated.run(Promise.all([held, job.wait({ onStatus: (status) => seen.push(status) })]));
    expect(seen).toEqual(["IN_PROGRESS", "COMPLETED"]);
    const [first, ...rest] = reads(emulated);
    expect(first).toBe("status-sync");
    expect(rest.length).toBeGreaterThan(3);
    expect(new Set(rest)).toEqual(new Set(["status"]));
  });

  test.each([
    404, 400, 403,
  ])("a wait at the service named runpod polls after status %d, and does not ask the service to hold a request again", async (status) => {
    await using emulated = await startRunpod();
    emulated.emulator.faults.add({ match: { operation: "status-sync" }, effect: { status } });
    const [first, second] = [await submit(emulated, 5_000), await submit(emulated, 5_000)];
    await emulated.run(first.wait());
    await emulated.run(second.wait());
    expect(reads(emulated).filter((call) => call === "status-sync")).toHaveLength(1);
  });

  test("a wait at the service named runpod polls if the service does not support /status-sync", async () => {
    await using emulated = await startRunpod({ emulator: { profile: "contract" } });
    const job = await submit(emulated, 5_000);
    expect((await emulated.run(job.wait())).output).toEqual({ slept: 5_000 });
    expect(reads(emulated).slice(0, 2)).toEqual(["status-sync", "status"]);
  });

  test("a wait for an unknown job fails, and the request of the next wait may be held again", async () => {
    await using emulated = await startRunpod();
    expect(await emulated.failure(emulated.queue.job("none").wait())).toBeInstanceOf(NotFoundError);
    const job = await submit(emulated, 5_000);
    await emulated.run(job.wait());
    expect(reads(emulated)).toEqual(["status-sync", "status", "status-sync"]);
  });

  test.each([
    ["a gateway that ends it", { status: 504 }],
    ["a reset", { reset: true }],
    ["a rate limit", { status: 429 }],
  ])("a wait at the service named runpod continues with polls after %s", async (_, effect) => {
    await using emulated = await startRunpod();
    emulated.emulator.faults.add({ match: { operation: "status-sync" }, effect, times: 1 });
    const job = await submit(emulated, 10_000);
    expect((await emulated.run(job.wait())).output).toEqual({ slept: 10_000 });
    const [first, ...rest] = reads(emulated);
    expect(first).toBe("status-sync");
    expect(new Set(rest)).toEqual(new Set(["status"]));
  });

  test("a wait at the service named runpod pauses between requests if the service does not hold them", async () => {
    await using emulated = await startRunpod();
    const job = await submit(emulated, 60_000);
    const body = { id: job.id, status: "IN_PROGRESS" };
    emulated.emulator.faults.add({ match: { operation: "status-sync" }, effect: { status: 200, body } });
    const wait = job.wait({ timeoutMs: 60_000 });
    expect(await emulated.failure(wait)).toMatchObject({ name: "WaitTimeoutError" });
    expect(reads(emulated).length).toBeLessThan(30);
  });

  test.each(["timeout", "abort", "close"])("a wait at the service named runpod ends its request on %s", async (how) => {
    await using emulated = await startRunpod();
    const job = await submit(emulated, 60_000);
    const controller = new AbortController();
    const reason = new Error("enough");
    const wait = job.wait({ timeoutMs: 2_000, signal: controller.signal }).catch((error: unknown) => error);
    await emulated.clock.advance(1_000);
    if (how === "timeout") await emulated.clock.advance(2_000);
    if (how === "abort") controller.abort(reason);
    if (how === "close") await emulated.client.close();
    const error = await wait;
    if (how === "timeout") expect(error).toBeInstanceOf(WaitTimeoutError);
    if (how === "abort") expect(error).toBe(reason);
    if (how === "close") expect(error).toMatchObject({ code: "CLIENT_CLOSED" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(emulated.emulator.journal.requests({ operation: "status-sync", outcome: "pending" })).toEqual([]);
    expect(emulated.timers()).toBe(0);
  });

  test("a wait at the service named runpod cancels its job after an abort with onAbort cancel", async () => {
    await using emulated = await startRunpod();
    const job = await submit(emulated, 60_000);
    const controller = new AbortController();
    const wait = job.wait({ signal: controller.signal, onAbort: "cancel" });
    await emulated.clock.advance(1_000);
    controller.abort(new Error("enough"));
    expect((await emulated.failure(wait)).message).toBe("enough");
    expect(emulated.calls().at(-1)).toBe("cancel");
  });

  test("a wait at the service named runpod lets the service hold at most 100 requests, and polls the other jobs", async () => {
    await using emulated = await startRunpod({ workers: 150 });
    const jobs = await emulated.run(
      Promise.all(Array.from({ length: 150 }, () => emulated.queue.run({ input: { ms: 20_000 } }))),
    );
    const all = Promise.all(jobs.map((job) => job.wait()));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await emulated.clock.advance(5_000);
    expect(emulated.emulator.journal.requests({ operation: "status-sync", outcome: "pending" })).toHaveLength(100);
    await emulated.run(all);
    const polled = emulated.emulator.journal.requests({ operation: "status" }).map(({ arguments: { jobId } }) => jobId);
    expect(new Set(polled).size).toBeGreaterThanOrEqual(50);
    expect(emulated.emulator.journal.requests({ status: 429 })).toEqual([]);
  });
});

test("a wait polls if the service has no name", async () => {
  await using emulated = await startRunpod({ client: { service: undefined } });
  const job = await submit(emulated, 5_000);
  await emulated.run(job.wait());
  expect(reads(emulated)).not.toContain("status-sync");
});
