import { z } from "zod";
import { InvalidInputError } from "../../../sdk/errors";
import { JobFailedError, SubmitUncertainError, WaitTimeoutError } from "../../../sdk/jobs/jobErrors";
import { sleeper, startQueue } from "../../support/queue";

describe("a synchronous job", () => {
  test("that ends while the service waits needs one request [contract.runsync]", async () => {
    await using it = await startQueue({ handler: sleeper });
    const schema = z.object({ slept: z.number() });
    const job = await it.run(it.queue.runSync({ input: { ms: 50_000 } }, { schema }));
    expect(job).toMatchObject({ status: "COMPLETED", output: { slept: 50_000 } });
    expect(it.calls()).toEqual(["runsync"]);
    expect(it.emulator.journal.requests()[0]?.arguments).toMatchObject({ wait: "90000" });
  });

  test("that takes longer than the service waits goes on with status, as one job", async () => {
    await using it = await startQueue({ handler: sleeper });
    const job = await it.run(it.queue.runSync({ input: { ms: 200_000 } }, { wait: 30_000 }));
    expect(job.output).toEqual({ slept: 200_000 });
    expect(it.emulator.journal.operations({ operation: "runsync" })).toHaveLength(1);
    expect(it.emulator.journal.requests()[0]?.arguments).toMatchObject({ wait: "30000" });
    expect(new Set(it.calls())).toEqual(new Set(["runsync", "status"]));
  });

  test.each([
    [2_000, "1000"],
    [60_000, "54000"],
    [1_000_000, "300000"],
  ])("with a budget of %d ms lets the service wait for %s ms [contract.runsync-wait]", async (timeoutMs, wait) => {
    await using it = await startQueue();
    await it.run(it.queue.runSync({ input: {} }, { timeoutMs }));
    expect(it.emulator.journal.requests()[0]?.arguments).toMatchObject({ wait });
  });

  test("asks the service to wait for what is left of the budget after a refusal", async () => {
    await using it = await startQueue();
    const effect = { status: 429, headers: { "retry-after": "20" } };
    it.emulator.faults.add({ match: { operation: "runsync" }, effect, times: 1 });
    await it.run(it.queue.runSync({ input: {} }, { timeoutMs: 60_000 }));
    const waits = it.emulator.journal.requests().map(({ arguments: { wait } }) => wait);
    expect(waits).toEqual(["54000", "36000"]);
  });

  test("ends at the caller's deadline with the job's id, and can be taken up again", async () => {
    await using it = await startQueue({ handler: sleeper });
    const startedAt = it.clock.now();
    const error = await it.failure(it.queue.runSync({ input: { ms: 400_000 } }, { timeoutMs: 350_000 }));
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(it.clock.now() - startedAt).toBeGreaterThanOrEqual(350_000);
    expect(it.clock.now() - startedAt).toBeLessThan(350_500);
    const { job, jobId } = error as WaitTimeoutError;
    expect(job.id).toBe(jobId);
    expect((await it.run(job.wait())).output).toEqual({ slept: 400_000 });
    expect(it.emulator.journal.operations({ operation: "runsync" })).toHaveLength(1);
  });

  test("whose result was not fetched within a minute has expired [contract.runsync-retention]", async () => {
    await using it = await startQueue({ handler: sleeper });
    const error = await it.failure(it.queue.runSync({ input: { ms: 10_000 } }, { wait: 1_000, timeoutMs: 2_000 }));
    await it.clock.advance(120_000);
    const late = (error as WaitTimeoutError).job.wait();
    expect(await it.failure(late)).toMatchObject({ name: "JobExpiredError", reason: "retention" });
  });

  test("that fails is an error", async () => {
    await using it = await startQueue({
      handler: () => {
        throw new Error("no such model");
      },
    });
    const error = await it.failure(it.queue.runSync({ input: {} }));
    expect(error).toBeInstanceOf(JobFailedError);
    expect(error.message).toContain("no such model");
  });

  test("whose answer is lost is not submitted again", async () => {
    await using it = await startQueue();
    it.emulator.faults.add({ match: { operation: "runsync" }, effect: { reset: true, when: "after" } });
    expect(await it.failure(it.queue.runSync({ input: {} }))).toBeInstanceOf(SubmitUncertainError);
    expect(it.calls()).toEqual(["runsync"]);
  });

  test("that is never answered ends at the caller's deadline, uncertain", async () => {
    await using it = await startQueue();
    it.emulator.faults.add({ match: { operation: "runsync" }, effect: { hang: true, when: "after" } });
    const startedAt = it.clock.now();
    const error = await it.failure(it.queue.runSync({ input: {} }, { timeoutMs: 20_000 }));
    expect(error).toBeInstanceOf(SubmitUncertainError);
    expect(it.clock.now() - startedAt).toBeLessThan(20_500);
  });

  test("without a budget is given the service's wait and the time for an answer, not the client's usual 30 s", async () => {
    await using it = await startQueue({ handler: sleeper });
    await it.run(it.queue.runSync({ input: { ms: 250_000 } }, { wait: 300_000 }));
    expect(it.calls()).toEqual(["runsync"]);
  });

  test("is refused before any call when a time is out of range", async () => {
    await using it = await startQueue();
    for (const times of [{ wait: 999 }, { wait: 300_001 }, { timeoutMs: 1_999 }]) {
      expect(await it.failure(it.queue.runSync({ input: {} }, times))).toBeInstanceOf(InvalidInputError);
    }
    expect(it.calls()).toEqual([]);
  });

  test("is cancelled when its caller goes, where that was asked for", async () => {
    await using it = await startQueue({ handler: sleeper });
    const controller = new AbortController();
    const options = { wait: 1_000, signal: controller.signal, onAbort: "cancel" } as const;
    const job = it.failure(it.queue.runSync({ input: { ms: 60_000 } }, options));
    await it.clock.advance(5_000);
    controller.abort(new Error("gone"));
    expect((await job).message).toBe("gone");
    expect(it.calls()).toContain("cancel");
  });
});
