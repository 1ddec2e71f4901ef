import { inspect } from "node:util";
import { z } from "zod";
import { ConnectionError, InvalidInputError, NotFoundError } from "../../../sdk/errors/errors";
import { JobExpiredError, JobFailedError, OutputMismatchError } from "../../../sdk/jobs/jobErrors";
import { WaitTimeoutError } from "../../../sdk/jobs/jobHandle";
import type { OutputSchema } from "../../../sdk/jobs/jobOutput";
import { CANARY } from "../../support/emulated";
import { sleeper, startQueue } from "../../support/queue";

const MINUTE = 60_000;

function fail(): never {
  throw new Error("the schema is broken");
}

describe("waiting for a job", () => {
  test("resolves with the completed job and its output in the schema's type [contract.job-output] [contract.completed]", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const schema = z.object({ slept: z.number() });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 10_000 } }, { schema }));
    const done = await emulated.run(job.wait());
    const slept: number = done.output.slept;
    expect(slept).toBe(10_000);
    expect(done).toMatchObject({ id: job.id, status: "COMPLETED", executionTime: 10_000 });
    expect(emulated.emulator.journal.operations({ operation: "status" }).length).toBeLessThan(20);
  });

  test("a wait fails when the output does not match the schema, without showing the output", async () => {
    await using emulated = await startQueue();
    const job = await emulated.run(
      emulated.queue.run({ input: { text: "private" } }, { schema: z.object({ text: z.number() }) }),
    );
    const error = await emulated.failure(job.wait());
    expect(error).toBeInstanceOf(OutputMismatchError);
    expect(error.message).not.toContain("private");
    expect(inspect(error)).not.toContain("private");
    expect(error).toMatchObject({ jobId: job.id, output: { text: "private" } });
    expect(error).toMatchObject({ issues: [{ path: ["text"], message: expect.stringContaining("number") }] });
  });

  test("a wait accepts schemas with asynchronous refinements, and Standard Schemas without parse", async () => {
    await using emulated = await startQueue();
    const refined = z.object({ n: z.number().refine(async (n) => n > 1, "too small") });
    const read = async <T>(schema: OutputSchema<T>, n: number) => {
      const job = await emulated.queue.run({ input: { n } }, { schema });
      return (await job.wait()).output;
    };
    const output: { readonly n: number } = await emulated.run(read(refined, 2));
    expect(output).toEqual({ n: 2 });
    const error = await emulated.failure(read(refined, 1));
    expect(error).toMatchObject({ code: "OUTPUT_MISMATCH", output: { n: 1 }, issues: [{ path: ["n"] }] });

    // Like arktype's schemas, it is a function.
    const standard: OutputSchema<string> = Object.assign(() => {}, {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value: unknown) =>
          value === 5 ? { issues: [{ message: "is five", path: [{ key: "a" }, 0] }] } : { value: String(value) },
      },
    } as const);
    const text: string = await emulated.run(
      emulated.queue.runSync({ input: { n: 3 } }, { schema: standard }).then((job) => job.output),
    );
    expect(text).toBe("[object Object]");
    const five = emulated.queue.openai("v1/models", { schema: { "~standard": { validate: () => ({ issues: [] }) } } });
    expect(await emulated.failure(five)).toMatchObject({ code: "OUTPUT_MISMATCH", jobId: undefined, issues: [] });
  });

  test.each([
    ["parse", { parse: fail }],
    ["a Standard Schema's validate", { "~standard": { validate: fail } }],
  ])("a wait keeps the output if %s throws another error", async (_, schema) => {
    await using emulated = await startQueue();
    const error = await emulated.failure(emulated.queue.runSync({ input: { a: 1 } }, { schema }));
    expect(error).toMatchObject({ output: { a: 1 }, issues: [{ path: [], message: "the schema is broken" }] });
  });

  test("a wait reads the job once with a timeout of 0 ms", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 1_000 } }));
    expect(await emulated.failure(job.wait({ timeoutMs: 0 }))).toBeInstanceOf(WaitTimeoutError);
    await emulated.clock.advance(2_000);
    const before = emulated.calls().length;
    expect(await emulated.run(job.wait({ timeoutMs: 0 }))).toMatchObject({ output: { slept: 1_000 } });
    expect(emulated.calls()).toHaveLength(before + 1);
  });

  test("a wait does not mistake a progress update for the result [contract.in-progress]", async () => {
    await using emulated = await startQueue({
      handler: async (_, { progress, sleep }) => {
        progress("half");
        await sleep(5_000);
        return "whole";
      },
    });
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    const result = job.wait();
    await emulated.clock.advance(2_000);
    expect(await emulated.run(job.status())).toMatchObject({ status: "IN_PROGRESS", output: "half" });
    expect((await emulated.run(result)).output).toBe("whole");
  });

  test.each([
    "RUNNING",
    "SOMETHING_NEW",
  ])("a wait does not treat the unknown state %s as final [contract.unknown-state]", async (status) => {
    await using emulated = await startQueue();
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    emulated.emulator.faults.add({
      match: { operation: "status" },
      effect: { status: 200, body: { id: job.id, status } },
      times: 3,
    });
    expect((await emulated.run(job.wait())).status).toBe("COMPLETED");
    expect(emulated.emulator.journal.operations({ operation: "status" })).toHaveLength(4);
  });

  test("a wait fails with the service's error when the job failed [contract.failed]", async () => {
    await using emulated = await startQueue({
      handler: () => {
        throw new Error(`out of memory, key ${CANARY}`);
      },
    });
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    const error = await emulated.failure(job.wait());
    expect(error).toBeInstanceOf(JobFailedError);
    expect(error).toMatchObject({ code: "JOB_FAILED", jobId: job.id, jobStatus: "FAILED" });
    expect(error.message).toContain("out of memory");
    expect((error as JobFailedError).jobError).toContain("[redacted]");
  });

  test("a wait fails with the job's output if the handler put its error there", async () => {
    await using emulated = await startQueue();
    const job = await emulated.run(emulated.queue.run({ input: { n: 1 } }));
    const body = { id: job.id, status: "FAILED", output: { error_code: "OOM", message: `key ${CANARY}` } };
    emulated.emulator.faults.add({ match: { operation: "status" }, effect: { status: 200, body } });
    const error = await emulated.failure(job.wait());
    expect(error.message).toContain('failed: {"error_code":"OOM","message":"key [redacted]"}');
  });

  test("a wait fails when the job exceeds its execution timeout [contract.execution-timeout]", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 60_000 }, policy: { executionTimeout: 5_000 } }));
    const error = await emulated.failure(job.wait());
    expect(error).toMatchObject({ name: "JobFailedError", jobStatus: "FAILED" });
    expect(error.message).toContain("executionTimeout exceeded");
  });

  test("a wait fails if the job was cancelled or timed out [contract.cancelled] [contract.timed-out]", async () => {
    await using emulated = await startQueue({ handler: (_, { timeOut }) => timeOut() });
    const timedOut = await emulated.run(emulated.queue.run({ input: {} }));
    expect(await emulated.failure(timedOut.wait())).toMatchObject({ name: "JobFailedError", jobStatus: "TIMED_OUT" });

    await using waiting = await startQueue({ workers: 0, handler: sleeper, emulator: { coldStartMs: 60_000 } });
    const job = await waiting.run(waiting.queue.run({ input: { ms: 1 } }));
    const wait = waiting.failure(job.wait());
    await waiting.run(job.cancel());
    expect(await wait).toMatchObject({ name: "JobFailedError", jobStatus: "CANCELLED" });
  });

  test("a wait ends at its timeout, with the job's id and a handle with which to resume [contract.stays-in-queue]", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 60_000 } }));
    const startedAt = emulated.clock.now();
    const error = await emulated.failure(job.wait({ timeoutMs: 5_000 }));
    expect(emulated.clock.now() - startedAt).toBeLessThan(5_200);
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error).toMatchObject({ jobId: job.id, job });
    expect(error.message).toContain(`.job("${job.id}")`);
    expect((await emulated.run((error as WaitTimeoutError).job.wait())).output).toEqual({ slept: 60_000 });
  });

  test("a wait can be resumed with the job's id alone", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const { id } = await emulated.run(emulated.queue.run({ input: { ms: 30_000 } }));
    const resumed = emulated.client.endpoint(emulated.endpointId).job(id, { schema: z.object({ slept: z.number() }) });
    expect((await emulated.run(resumed.wait())).output.slept).toBe(30_000);
    expect(() => emulated.queue.job("../status")).toThrow(InvalidInputError);
  });

  test("a wait continues through a minute of faults, and gives up after the client's time limit for a call", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const rule = emulated.emulator.faults.add({ match: { operation: "status" }, effect: { status: 503 } });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 10_000 } }));
    const wait = job.wait();
    await emulated.clock.advance(MINUTE);
    emulated.emulator.faults.remove(rule.id);
    expect((await emulated.run(wait)).status).toBe("COMPLETED");

    emulated.emulator.faults.add({ match: { operation: "status" }, effect: { reset: true } });
    const startedAt = emulated.clock.now();
    expect(await emulated.failure(job.wait())).toBeInstanceOf(ConnectionError);
    expect(emulated.clock.now() - startedAt).toBeGreaterThanOrEqual(120_000);
    expect(emulated.clock.now() - startedAt).toBeLessThan(126_000);
  });

  test("a wait is shared by all handles of a job, and ends when the client is closed", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 20_000 } }));
    const waits = [job, emulated.queue.job(job.id), emulated.client.endpoint(emulated.endpointId).job(job.id)].map(
      (each) => each.wait(),
    );
    await emulated.run(Promise.all(waits));
    expect(emulated.emulator.journal.operations({ operation: "status" }).length).toBeLessThan(25);

    const second = await emulated.run(emulated.queue.run({ input: { ms: 20_000 } }));
    const wait = emulated.failure(second.wait());
    await emulated.clock.advance(1_000);
    await emulated.client.close();
    expect(await wait).toMatchObject({ code: "CLIENT_CLOSED" });
    expect(await emulated.failure(second.status())).toMatchObject({ code: "CLIENT_CLOSED" });
  });
});

describe("aborting a wait", () => {
  test("rejects with the signal's reason while the job continues", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 20_000 } }));
    const controller = new AbortController();
    const wait = emulated.failure(job.wait({ signal: controller.signal }));
    await emulated.clock.advance(1_000);
    controller.abort(new Error("changed my mind"));
    expect((await wait).message).toBe("changed my mind");
    expect((await emulated.run(job.wait())).status).toBe("COMPLETED");
    expect(emulated.calls()).not.toContain("cancel");
  });

  test("an aborted wait cancels the job if the caller has asked for it", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 20_000 } }));
    const controller = new AbortController();
    const wait = emulated.failure(job.wait({ signal: controller.signal, onAbort: "cancel" }));
    await emulated.clock.advance(1_000);
    controller.abort(new Error("changed my mind"));
    expect((await wait).message).toBe("changed my mind");
    expect((await emulated.run(job.status())).status).toBe("CANCELLED");
  });

  test("an aborted wait cancels the jobs of many waits that share a signal, within the rate limit", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const ids = await emulated.run(
      Promise.all(Array.from({ length: 250 }, () => emulated.queue.run({ input: { ms: 6 * 60 * MINUTE } }))),
    );
    const controller = new AbortController();
    const options = { signal: controller.signal, onAbort: "cancel" } as const;
    const waits = emulated.run(Promise.all(ids.map((job) => emulated.failure(job.wait(options)))));
    controller.abort(new Error("changed my mind"));
    expect(new Set((await waits).map(({ message }) => message))).toEqual(new Set(["changed my mind"]));
    const cancelled = emulated.emulator.journal.operations({ operation: "cancel" });
    expect(cancelled).toHaveLength(250);
  });

  test("an aborted wait names a job that continues because it could not be cancelled, also in the log", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (_: object, message: string) => warnings.push(message) };
    await using emulated = await startQueue({ handler: sleeper, client: { logger } });
    emulated.emulator.faults.add({ match: { operation: "cancel" }, effect: { status: 500 } });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 600_000 } }));
    const signal = AbortSignal.abort(new Error("changed my mind"));
    const startedAt = emulated.clock.now();
    const error = await emulated.failure(job.wait({ signal, onAbort: "cancel" }));
    expect(error).toMatchObject({ code: "CANCEL_FAILED", jobId: job.id, cause: { message: "changed my mind" } });
    expect(error.message).toContain(`.job("${job.id}").cancel()`);
    expect(emulated.clock.now() - startedAt).toBeLessThanOrEqual(120_200);
    expect(warnings.join()).toContain("may continue");
  });

  test("an aborted wait for a job that no longer exists sends no cancel", async () => {
    await using emulated = await startQueue();
    const signal = AbortSignal.abort(new Error("changed my mind"));
    const wait = emulated.queue.job("gone").wait({ signal, onAbort: "cancel" });
    expect((await emulated.failure(wait)).message).toBe("changed my mind");
  });

  test("an aborted wait ends a pause of 30 s within 50 ms and leaves no timer behind", async () => {
    await using emulated = await startQueue();
    const effect = { status: 429, headers: { "retry-after": "30" } };
    emulated.emulator.faults.add({ match: { operation: "status" }, effect });
    const controller = new AbortController();
    const read = emulated.queue.status("job-1", { signal: controller.signal }).catch((error: Error) => error.message);
    await emulated.clock.advance(10_000);
    const abortedAt = emulated.clock.now();
    controller.abort(new Error("enough"));
    expect(await read).toBe("enough");
    await emulated.clock.runUntilIdle();
    expect(emulated.clock.now() - abortedAt).toBeLessThanOrEqual(50);
    expect(emulated.calls()).toEqual(["status"]);
  });
});

describe("when a job expires", () => {
  test("the expiry of a job is determined by its ttl, and by the retention of its result once it has ended [contract.run-retention]", async () => {
    await using emulated = await startQueue();
    const submittedAt = emulated.clock.now();
    const job = await emulated.run(emulated.queue.run({ input: {}, policy: { ttl: 2 * 60 * MINUTE } }));
    expect(Math.abs((job.expiresAt?.getTime() ?? 0) - submittedAt - 2 * 60 * MINUTE)).toBeLessThan(1_000);
    await emulated.run(job.wait());
    const inHalfAnHour = emulated.clock.now() + 30 * MINUTE;
    expect(Math.abs((job.expiresAt?.getTime() ?? 0) - inHalfAnHour)).toBeLessThan(1_000);
    expect(emulated.queue.job(job.id).expiresAt).toBeUndefined();
    const resumed = emulated.queue.job(job.id, { submittedAt: new Date(submittedAt), ttl: 60 * MINUTE });
    expect(resumed.expiresAt?.getTime()).toBe(submittedAt + 60 * MINUTE);
  });

  test("the expiry of a job is explained by the job's ttl once the service no longer knows the job [contract.ttl-elapsed]", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 60 * MINUTE }, policy: { ttl: 10 * MINUTE } }));
    const error = await emulated.failure(job.wait());
    expect(error).toBeInstanceOf(JobExpiredError);
    expect(error).toMatchObject({ jobId: job.id, reason: "ttl", expiredAt: job.expiresAt });
    expect(await emulated.failure(emulated.queue.status(job.id))).toBeInstanceOf(NotFoundError);
  });

  test("the expiry of a job is explained by the result's retention, whether or not the job's end was seen [contract.retention-elapsed]", async () => {
    await using emulated = await startQueue();
    const seen = await emulated.run(emulated.queue.run({ input: {} }));
    const unseen = await emulated.run(emulated.queue.run({ input: {} }));
    await emulated.run(seen.wait());
    await emulated.clock.advance(31 * MINUTE);
    for (const job of [seen, unseen]) {
      expect(await emulated.failure(job.status())).toMatchObject({ name: "JobExpiredError", reason: "retention" });
    }
  });

  test("a job that is unknown for another reason causes a not-found error [contract.job-purged]", async () => {
    await using emulated = await startQueue({ workers: 0, emulator: { coldStartMs: MINUTE } });
    expect(await emulated.failure(emulated.queue.job("never-was").wait())).toBeInstanceOf(NotFoundError);
    const purged = await emulated.run(emulated.queue.run({ input: {} }));
    await emulated.run(emulated.queue.purgeQueue());
    expect(await emulated.failure(purged.status())).toBeInstanceOf(NotFoundError);
  });

  test("the expiry of a job changes when a new ttl is sent [contract.status-ttl]", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(
      emulated.queue.run({ input: { ms: 2 * 60 * MINUTE }, policy: { executionTimeout: 24 * 60 * MINUTE } }),
    );
    await emulated.run(job.status({ ttl: 60 * MINUTE }));
    expect((job.expiresAt?.getTime() ?? 0) - emulated.clock.now()).toBeLessThanOrEqual(60 * MINUTE);
    expect(emulated.emulator.journal.requests({ operation: "status" })[0]?.arguments).toMatchObject({
      ttl: String(60 * MINUTE),
    });
    expect(await emulated.failure(job.wait())).toMatchObject({ name: "JobExpiredError", reason: "ttl" });
    expect(await emulated.failure(job.status({ ttl: 1 }))).toBeInstanceOf(InvalidInputError);
  });
});
