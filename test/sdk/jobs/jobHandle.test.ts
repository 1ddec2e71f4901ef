import { z } from "zod";
import {
  ClientClosedError,
  ConnectionError,
  InvalidInputError,
  NotFoundError,
  UnexpectedResponseError,
} from "../../../sdk/errors";
import { JobExpiredError, JobFailedError } from "../../../sdk/jobs/jobErrors";
import { WaitTimeoutError } from "../../../sdk/jobs/jobHandle";
import { CANARY } from "../../support/emulated";
import { sleeper, startQueue } from "../../support/queue";

const MINUTE = 60_000;

describe("waiting for a job", () => {
  test("resolves with the completed job, its output in the schema's type [contract.job-output] [contract.completed]", async () => {
    await using it = await startQueue({ handler: sleeper });
    const schema = z.object({ slept: z.number() });
    const job = await it.run(it.queue.run({ input: { ms: 10_000 } }, { schema }));
    const done = await it.run(job.wait());
    const slept: number = done.output.slept;
    expect(slept).toBe(10_000);
    expect(done).toMatchObject({ id: job.id, status: "COMPLETED", executionTime: 10_000 });
    expect(it.emulator.journal.operations({ operation: "status" }).length).toBeLessThan(20);
  });

  test("fails when the output does not match the schema, without showing it", async () => {
    await using it = await startQueue();
    const job = await it.run(it.queue.run({ input: { text: "private" } }, { schema: z.object({ text: z.number() }) }));
    const error = await it.failure(job.wait());
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).not.toContain("private");
  });

  test("does not mistake a progress update for the result [contract.in-progress]", async () => {
    await using it = await startQueue({
      handler: async (_, { progress, sleep }) => {
        progress("half");
        await sleep(5_000);
        return "whole";
      },
    });
    const job = await it.run(it.queue.run({ input: {} }));
    const result = job.wait();
    await it.clock.advance(2_000);
    expect(await it.run(job.status())).toMatchObject({ status: "IN_PROGRESS", output: "half" });
    expect((await it.run(result)).output).toBe("whole");
  });

  test.each([
    "RUNNING",
    "SOMETHING_NEW",
  ])("treats the unknown state %s as not ended [contract.unknown-state]", async (status) => {
    await using it = await startQueue();
    const job = await it.run(it.queue.run({ input: {} }));
    it.emulator.faults.add({
      match: { operation: "status" },
      effect: { status: 200, body: { id: job.id, status } },
      times: 3,
    });
    expect((await it.run(job.wait())).status).toBe("COMPLETED");
    expect(it.emulator.journal.operations({ operation: "status" })).toHaveLength(4);
  });

  test("fails with the service's error if the job failed [contract.failed]", async () => {
    await using it = await startQueue({
      handler: () => {
        throw new Error(`out of memory, key ${CANARY}`);
      },
    });
    const job = await it.run(it.queue.run({ input: {} }));
    const error = await it.failure(job.wait());
    expect(error).toBeInstanceOf(JobFailedError);
    expect(error).toMatchObject({ code: "JOB_FAILED", jobId: job.id, jobStatus: "FAILED" });
    expect(error.message).toContain("out of memory");
    expect((error as JobFailedError).jobError).toContain("[redacted]");
  });

  test("fails when the job runs longer than its execution timeout [contract.execution-timeout]", async () => {
    await using it = await startQueue({ handler: sleeper });
    const job = await it.run(it.queue.run({ input: { ms: 60_000 }, policy: { executionTimeout: 5_000 } }));
    const error = await it.failure(job.wait());
    expect(error).toMatchObject({ name: "JobFailedError", jobStatus: "FAILED" });
    expect(error.message).toContain("executionTimeout exceeded");
  });

  test("fails when the job was cancelled, or timed out [contract.cancelled] [contract.timed-out]", async () => {
    await using it = await startQueue({ handler: (_, { timeOut }) => timeOut() });
    const timedOut = await it.run(it.queue.run({ input: {} }));
    expect(await it.failure(timedOut.wait())).toMatchObject({ name: "JobFailedError", jobStatus: "TIMED_OUT" });

    await using waiting = await startQueue({ workers: 0, handler: sleeper, emulator: { coldStartMs: 60_000 } });
    const job = await waiting.run(waiting.queue.run({ input: { ms: 1 } }));
    const wait = waiting.failure(job.wait());
    await waiting.run(job.cancel());
    expect(await wait).toMatchObject({ name: "JobFailedError", jobStatus: "CANCELLED" });
  });

  test("ends at its timeout with the job's id and a handle to continue with [contract.stays-in-queue]", async () => {
    await using it = await startQueue({ handler: sleeper });
    const job = await it.run(it.queue.run({ input: { ms: 60_000 } }));
    const startedAt = it.clock.now();
    const error = await it.failure(job.wait({ timeoutMs: 5_000 }));
    expect(it.clock.now() - startedAt).toBeLessThan(5_200);
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error).toMatchObject({ jobId: job.id, job });
    expect(error.message).toContain(`.job("${job.id}")`);
    expect((await it.run((error as WaitTimeoutError).job.wait())).output).toEqual({ slept: 60_000 });
  });

  test("can be resumed with only the job's id", async () => {
    await using it = await startQueue({ handler: sleeper });
    const { id } = await it.run(it.queue.run({ input: { ms: 30_000 } }));
    const resumed = it.client.endpoint(it.endpointId).job(id, { schema: z.object({ slept: z.number() }) });
    expect((await it.run(resumed.wait())).output.slept).toBe(30_000);
    expect(() => it.queue.job("../status")).toThrow(InvalidInputError);
  });

  test("survives a minute of faults, and gives up after the client's time for one call", async () => {
    await using it = await startQueue({ handler: sleeper });
    const rule = it.emulator.faults.add({ match: { operation: "status" }, effect: { status: 503 } });
    const job = await it.run(it.queue.run({ input: { ms: 10_000 } }));
    const wait = job.wait();
    await it.clock.advance(MINUTE);
    it.emulator.faults.remove(rule.id);
    expect((await it.run(wait)).status).toBe("COMPLETED");

    it.emulator.faults.add({ match: { operation: "status" }, effect: { reset: true } });
    const startedAt = it.clock.now();
    expect(await it.failure(job.wait())).toBeInstanceOf(ConnectionError);
    expect(it.clock.now() - startedAt).toBeGreaterThanOrEqual(120_000);
    expect(it.clock.now() - startedAt).toBeLessThan(126_000);
  });

  test("is shared by all handles of a job, and ends when the client is closed", async () => {
    await using it = await startQueue({ handler: sleeper });
    const job = await it.run(it.queue.run({ input: { ms: 20_000 } }));
    const waits = [job, it.queue.job(job.id), it.client.endpoint(it.endpointId).job(job.id)].map((each) => each.wait());
    await it.run(Promise.all(waits));
    expect(it.emulator.journal.operations({ operation: "status" }).length).toBeLessThan(25);

    const second = await it.run(it.queue.run({ input: { ms: 20_000 } }));
    const wait = it.failure(second.wait());
    await it.clock.advance(1_000);
    await it.client.close();
    expect(await wait).toBeInstanceOf(ClientClosedError);
    expect(await it.failure(second.status())).toBeInstanceOf(ClientClosedError);
  });
});

describe("aborting a wait", () => {
  test("rejects with the signal's reason, and the job continues", async () => {
    await using it = await startQueue({ handler: sleeper });
    const job = await it.run(it.queue.run({ input: { ms: 20_000 } }));
    const controller = new AbortController();
    const wait = it.failure(job.wait({ signal: controller.signal }));
    await it.clock.advance(1_000);
    controller.abort(new Error("changed my mind"));
    expect((await wait).message).toBe("changed my mind");
    expect((await it.run(job.wait())).status).toBe("COMPLETED");
    expect(it.calls()).not.toContain("cancel");
  });

  test("cancels the job if that was requested", async () => {
    await using it = await startQueue({ handler: sleeper });
    const job = await it.run(it.queue.run({ input: { ms: 20_000 } }));
    const controller = new AbortController();
    const wait = it.failure(job.wait({ signal: controller.signal, onAbort: "cancel" }));
    await it.clock.advance(1_000);
    controller.abort(new Error("changed my mind"));
    expect((await wait).message).toBe("changed my mind");
    expect((await it.run(job.status())).status).toBe("CANCELLED");
  });

  test("cancels every job of many waits that share a signal, at the pace of the rate limit", async () => {
    await using it = await startQueue({ handler: sleeper });
    const ids = await it.run(
      Promise.all(Array.from({ length: 250 }, () => it.queue.run({ input: { ms: 6 * 60 * MINUTE } }))),
    );
    const controller = new AbortController();
    const options = { signal: controller.signal, onAbort: "cancel" } as const;
    const waits = it.run(Promise.all(ids.map((job) => it.failure(job.wait(options)))));
    controller.abort(new Error("changed my mind"));
    expect(new Set((await waits).map(({ message }) => message))).toEqual(new Set(["changed my mind"]));
    const cancelled = it.emulator.journal.operations({ operation: "cancel" });
    expect(cancelled).toHaveLength(250);
  });

  test("names the job that continues because it could not be cancelled, and tells the logger", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (_: object, message: string) => warnings.push(message) };
    await using it = await startQueue({ handler: sleeper, client: { logger } });
    it.emulator.faults.add({ match: { operation: "cancel" }, effect: { status: 500 } });
    const job = await it.run(it.queue.run({ input: { ms: 600_000 } }));
    const signal = AbortSignal.abort(new Error("changed my mind"));
    const startedAt = it.clock.now();
    const error = await it.failure(job.wait({ signal, onAbort: "cancel" }));
    expect(error).toMatchObject({ code: "CANCEL_FAILED", jobId: job.id, cause: { message: "changed my mind" } });
    expect(error.message).toContain(`.job("${job.id}").cancel()`);
    expect(it.clock.now() - startedAt).toBeLessThanOrEqual(120_200);
    expect(warnings.join()).toContain("may continue");
  });

  test("aborting a wait for a job that no longer exists needs no cancel", async () => {
    await using it = await startQueue();
    const signal = AbortSignal.abort(new Error("changed my mind"));
    const wait = it.queue.job("gone").wait({ signal, onAbort: "cancel" });
    expect((await it.failure(wait)).message).toBe("changed my mind");
  });

  test("ends a pause of 30 s within 50 ms and leaves no timer", async () => {
    await using it = await startQueue();
    const effect = { status: 429, headers: { "retry-after": "30" } };
    it.emulator.faults.add({ match: { operation: "status" }, effect });
    const controller = new AbortController();
    const read = it.queue.status("job-1", { signal: controller.signal }).catch((error: Error) => error.message);
    await it.clock.advance(10_000);
    const abortedAt = it.clock.now();
    controller.abort(new Error("enough"));
    expect(await read).toBe("enough");
    await it.clock.runUntilIdle();
    expect(it.clock.now() - abortedAt).toBeLessThanOrEqual(50);
    expect(it.calls()).toEqual(["status"]);
  });
});

describe("when a job expires", () => {
  test("is known from its ttl, and from its result's retention once it has ended [contract.run-retention]", async () => {
    await using it = await startQueue();
    const submittedAt = it.clock.now();
    const job = await it.run(it.queue.run({ input: {}, policy: { ttl: 2 * 60 * MINUTE } }));
    expect(Math.abs((job.expiresAt?.getTime() ?? 0) - submittedAt - 2 * 60 * MINUTE)).toBeLessThan(1_000);
    await it.run(job.wait());
    const inHalfAnHour = it.clock.now() + 30 * MINUTE;
    expect(Math.abs((job.expiresAt?.getTime() ?? 0) - inHalfAnHour)).toBeLessThan(1_000);
    expect(it.queue.job(job.id).expiresAt).toBeUndefined();
    const resumed = it.queue.job(job.id, { submittedAt: new Date(submittedAt), ttl: 60 * MINUTE });
    expect(resumed.expiresAt?.getTime()).toBe(submittedAt + 60 * MINUTE);
  });

  test("its ttl explains why it is no longer known [contract.ttl-elapsed]", async () => {
    await using it = await startQueue({ handler: sleeper });
    const job = await it.run(it.queue.run({ input: { ms: 60 * MINUTE }, policy: { ttl: 10 * MINUTE } }));
    const error = await it.failure(job.wait());
    expect(error).toBeInstanceOf(JobExpiredError);
    expect(error).toMatchObject({ jobId: job.id, reason: "ttl", expiredAt: job.expiresAt });
    expect(await it.failure(it.queue.status(job.id))).toBeInstanceOf(NotFoundError);
  });

  test("its result's retention explains it, seen or unseen [contract.retention-elapsed]", async () => {
    await using it = await startQueue();
    const seen = await it.run(it.queue.run({ input: {} }));
    const unseen = await it.run(it.queue.run({ input: {} }));
    await it.run(seen.wait());
    await it.clock.advance(31 * MINUTE);
    for (const job of [seen, unseen]) {
      expect(await it.failure(job.status())).toMatchObject({ name: "JobExpiredError", reason: "retention" });
    }
  });

  test("another unknown job is not found [contract.job-purged]", async () => {
    await using it = await startQueue({ workers: 0, emulator: { coldStartMs: MINUTE } });
    expect(await it.failure(it.queue.job("never-was").wait())).toBeInstanceOf(NotFoundError);
    const purged = await it.run(it.queue.run({ input: {} }));
    await it.run(it.queue.purgeQueue());
    expect(await it.failure(purged.status())).toBeInstanceOf(NotFoundError);
  });

  test("a new ttl is sent, and moves the time [contract.status-ttl]", async () => {
    await using it = await startQueue({ handler: sleeper });
    const job = await it.run(
      it.queue.run({ input: { ms: 2 * 60 * MINUTE }, policy: { executionTimeout: 24 * 60 * MINUTE } }),
    );
    await it.run(job.status({ ttl: 60 * MINUTE }));
    expect((job.expiresAt?.getTime() ?? 0) - it.clock.now()).toBeLessThanOrEqual(60 * MINUTE);
    expect(it.emulator.journal.requests({ operation: "status" })[0]?.arguments).toMatchObject({
      ttl: String(60 * MINUTE),
    });
    expect(await it.failure(job.wait())).toMatchObject({ name: "JobExpiredError", reason: "ttl" });
    expect(await it.failure(job.status({ ttl: 1 }))).toBeInstanceOf(InvalidInputError);
  });
});
