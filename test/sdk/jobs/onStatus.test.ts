import { InvalidInputError } from "../../../sdk/errors/errors";
import { WaitTimeoutError } from "../../../sdk/jobs/jobHandle";
import type { JobStatus } from "../../../sdk/jobs/jobRecord";
import { sleeper, startQueue } from "../../support/queue";

describe("onStatus of a wait", () => {
  test("onStatus of a wait is called once for each status of the job, in order, before the wait resolves", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    await emulated.run(emulated.queue.run({ input: { ms: 20_000 } }));
    const job = await emulated.run(emulated.queue.run({ input: { ms: 20_000 } }));
    const seen: [JobStatus, unknown][] = [];
    const onStatus = (status: JobStatus, record: object) => seen.push([status, record]);
    const done = await emulated.run(job.wait({ onStatus }));
    expect(seen).toEqual([
      ["IN_QUEUE", expect.objectContaining({ id: job.id, status: "IN_QUEUE" })],
      ["IN_PROGRESS", expect.objectContaining({ id: job.id, status: "IN_PROGRESS" })],
      ["COMPLETED", done],
    ]);
  });

  test("onStatus of a wait is called for a job that failed, and again after a retry", async () => {
    let runs = 0;
    await using emulated = await startQueue({
      handler: async (_, { sleep }) => {
        await sleep(1_000);
        if (++runs === 1) throw new Error("once");
        return "second time";
      },
    });
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    const seen: JobStatus[] = [];
    const onStatus = (status: JobStatus) => seen.push(status);
    expect(await emulated.failure(job.wait({ onStatus }))).toMatchObject({ name: "JobFailedError" });
    await emulated.run(job.retry());
    await emulated.run(job.wait({ onStatus }));
    expect(seen).toEqual(["IN_PROGRESS", "FAILED", "IN_PROGRESS", "COMPLETED"]);
  });

  test("onStatus of a wait is awaited, so that calls do not overlap and the wait resolves after the last call", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 5_000 } }));
    const log: string[] = [];
    const onStatus = async (status: JobStatus) => {
      log.push(`begin ${status}`);
      await new Promise((resolve) => setTimeout(resolve, 30));
      log.push(`end ${status}`);
    };
    await emulated.run(job.wait({ onStatus }));
    expect(log).toEqual(["begin IN_PROGRESS", "end IN_PROGRESS", "begin COMPLETED", "end COMPLETED"]);
  });

  test.each<[string, JobStatus, (error: Error) => unknown]>([
    [
      "throws",
      "IN_PROGRESS",
      (error) => {
        throw error;
      },
    ],
    ["rejects", "IN_PROGRESS", (error) => Promise.reject(error)],
    ["rejects at the end", "COMPLETED", (error) => Promise.reject(error)],
  ])("a listener that %s ends the wait with its error, and the job continues", async (_, failing, fail) => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 5_000 } }));
    const error = new Error("the callback failed");
    const onStatus = (status: JobStatus) => (status === failing ? fail(error) : undefined);
    const { signal } = new AbortController();
    expect(await emulated.failure(job.wait({ onStatus, signal, onAbort: "cancel" }))).toBe(error);
    expect(emulated.timers()).toBe(0);
    expect((await emulated.run(job.wait())).output).toEqual({ slept: 5_000 });
  });

  test("onStatus of a wait does not prevent a timeout, an abort, or other waits for the job", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 30_000 } }));
    const seen: JobStatus[] = [];
    const onStatus = (status: JobStatus) => seen.push(status);
    const other = job.wait();
    expect(await emulated.failure(job.wait({ onStatus, timeoutMs: 3_000 }))).toBeInstanceOf(WaitTimeoutError);
    const reason = new Error("enough");
    expect(await emulated.failure(job.wait({ onStatus, signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(seen).toEqual(["IN_PROGRESS"]);
    expect((await emulated.run(other)).status).toBe("COMPLETED");
    expect(emulated.timers()).toBe(0);
  });

  test("onStatus of a wait must be a function, or an error is thrown before any call", async () => {
    await using emulated = await startQueue();
    const error = await emulated.failure(emulated.queue.job("a").wait({ onStatus: "log" as never }));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error.message).toContain("onStatus: must be a function");
    expect(emulated.calls()).toEqual([]);
  });
});
