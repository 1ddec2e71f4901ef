import { ConnectionError } from "../../../sdk/errors/errors";
import { JobNotRetryableError, RetryUncertainError } from "../../../sdk/jobs/jobErrors";
import { sleeper, startQueue } from "../../support/queue";

describe("cancel and retry", () => {
  test("a cancel is repeated when its response was lost, and returns the actual state of a job that has ended [contract.cancel] [contract.cancel-result]", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 60_000 } }));
    emulated.emulator.faults.add({ match: { operation: "cancel" }, effect: { reset: true, when: "after" }, times: 1 });
    expect(await emulated.run(job.cancel())).toMatchObject({ id: job.id, status: "CANCELLED" });
    expect(emulated.emulator.journal.operations({ operation: "cancel" })).toHaveLength(2);

    const done = await emulated.run(emulated.queue.run({ input: { ms: 1 } }));
    await emulated.run(done.wait());
    expect((await emulated.run(emulated.queue.job(done.id).cancel())).status).toBe("COMPLETED");
  });

  test("a failed job runs again with the same id [contract.retry]", async () => {
    let runs = 0;
    await using emulated = await startQueue({
      handler: () => {
        if (++runs === 1) throw new Error("first run");
        return "second run";
      },
    });
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    await emulated.failure(job.wait());
    expect(await emulated.run(job.retry())).toMatchObject({ id: job.id, status: "IN_QUEUE" });
    expect((await emulated.run(job.wait())).output).toBe("second run");
  });

  test("a job in any other state is not retried, and no request is sent [contract.retry-states]", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 10_000 } }));
    expect(await emulated.failure(job.retry())).toBeInstanceOf(JobNotRetryableError);
    await emulated.run(job.wait());
    expect(await emulated.failure(emulated.queue.job(job.id).retry())).toMatchObject({
      jobId: job.id,
      jobStatus: "COMPLETED",
    });
    expect(emulated.calls()).not.toContain("retry");
  });

  test("a retry whose response was lost is not sent a second time [contract.retry-lost]", async () => {
    await using emulated = await startQueue({
      handler: async ({ input }, { sleep }) => {
        await sleep((input as { ms: number }).ms);
        throw new Error("always");
      },
    });
    const job = await emulated.run(emulated.queue.run({ input: { ms: 10_000 } }));
    await emulated.failure(job.wait());
    emulated.emulator.faults.add({ match: { operation: "retry" }, effect: { reset: true, when: "after" }, times: 1 });
    expect(await emulated.run(job.retry())).toMatchObject({ id: job.id, status: "IN_PROGRESS" });
    expect(emulated.emulator.journal.operations({ operation: "retry" })).toHaveLength(1);

    // The job's state does not show this now: it may have run and failed again.
    await emulated.failure(job.wait());
    emulated.emulator.faults.add({ match: { operation: "retry" }, effect: { reset: true }, times: 1 });
    const error = await emulated.failure(job.retry());
    expect(error).toBeInstanceOf(RetryUncertainError);
    expect(error).toMatchObject({ jobId: job.id, disposition: "stop", cause: expect.any(ConnectionError) });
    expect(error.message).toMatch(
      /The job is FAILED: the retry may not have taken effect.*could then run twice.*status\(\)/,
    );
    expect(emulated.emulator.journal.operations({ operation: "retry" })).toHaveLength(2);
  });

  test.each([
    ["was refused with 429", { status: 429 }],
  ] as const)("a retry that %s is sent again", async (_, effect) => {
    let runs = 0;
    await using emulated = await startQueue({
      handler: () => {
        if (++runs === 1) throw new Error("first run");
        return "second run";
      },
    });
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    await emulated.failure(job.wait());
    emulated.emulator.faults.add({ match: { operation: "retry" }, effect, times: 2 });
    await emulated.run(job.retry());
    expect(emulated.emulator.journal.operations({ operation: "retry" })).toHaveLength(3);
    expect((await emulated.run(job.wait())).output).toBe("second run");
    expect(runs).toBe(2);
  });

  test("a retry whose response was lost runs a job that fails immediately only once more", async () => {
    let runs = 0;
    await using emulated = await startQueue({
      handler: () => {
        throw new Error(`run ${++runs}`);
      },
    });
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    await emulated.failure(job.wait());
    emulated.emulator.faults.add({ match: { operation: "retry" }, effect: { reset: true, when: "after" } });
    expect(await emulated.failure(job.retry())).toBeInstanceOf(RetryUncertainError);
    await emulated.clock.advance(60_000);
    expect(runs).toBe(2);
  });
});
