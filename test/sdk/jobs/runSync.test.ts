import { z } from "zod";
import { InvalidInputError } from "../../../sdk/errors/errors";
import { JobFailedError, SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import { WaitTimeoutError } from "../../../sdk/jobs/jobHandle";
import { sleeper, startQueue } from "../../support/queue";
import { clientOf } from "../../support/rawServer";
import { startScriptedServer } from "../../support/scriptedServer";

describe("a synchronous job", () => {
  test("a job that ends while the service waits needs only one request [contract.runsync]", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const schema = z.object({ slept: z.number() });
    const job = await emulated.run(emulated.queue.runSync({ input: { ms: 50_000 } }, { schema }));
    expect(job).toMatchObject({ status: "COMPLETED", output: { slept: 50_000 } });
    expect(emulated.calls()).toEqual(["runsync"]);
    expect(emulated.emulator.journal.requests()[0]?.arguments).toMatchObject({ wait: "90000" });
  });

  test("a job that takes longer than the service waits is read with /status and is not submitted again", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const job = await emulated.run(emulated.queue.runSync({ input: { ms: 200_000 } }, { wait: 30_000 }));
    expect(job.output).toEqual({ slept: 200_000 });
    expect(emulated.emulator.journal.operations({ operation: "runsync" })).toHaveLength(1);
    expect(emulated.emulator.journal.requests()[0]?.arguments).toMatchObject({ wait: "30000" });
    expect(new Set(emulated.calls())).toEqual(new Set(["runsync", "status"]));
  });

  test.each([
    [2_000, "1000"],
    [60_000, "54000"],
    [1_000_000, "300000"],
  ])("a call with a budget of %d ms lets the service wait for %s ms [contract.runsync-wait]", async (timeoutMs, wait) => {
    await using emulated = await startQueue();
    await emulated.run(emulated.queue.runSync({ input: {} }, { timeoutMs }));
    expect(emulated.emulator.journal.requests()[0]?.arguments).toMatchObject({ wait });
  });

  test("a synchronous job asks the service to wait for the rest of the budget after a refusal", async () => {
    await using emulated = await startQueue();
    const effect = { status: 429, headers: { "retry-after": "20" } };
    emulated.emulator.faults.add({ match: { operation: "runsync" }, effect, times: 1 });
    await emulated.run(emulated.queue.runSync({ input: {} }, { timeoutMs: 60_000 }));
    const waits = emulated.emulator.journal.requests().map(({ arguments: { wait } }) => wait);
    expect(waits).toEqual(["54000", "36000"]);
  });

  test("a synchronous job ends at the caller's deadline with the job's id, and can be resumed", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const startedAt = emulated.clock.now();
    const error = await emulated.failure(emulated.queue.runSync({ input: { ms: 400_000 } }, { timeoutMs: 350_000 }));
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(emulated.clock.now() - startedAt).toBeGreaterThanOrEqual(350_000);
    expect(emulated.clock.now() - startedAt).toBeLessThan(350_500);
    const { job, jobId } = error as WaitTimeoutError;
    expect(job.id).toBe(jobId);
    expect((await emulated.run(job.wait())).output).toEqual({ slept: 400_000 });
    expect(emulated.emulator.journal.operations({ operation: "runsync" })).toHaveLength(1);
  });

  test("a job whose result is not fetched within a minute expires [contract.runsync-retention]", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const error = await emulated.failure(
      emulated.queue.runSync({ input: { ms: 10_000 } }, { wait: 1_000, timeoutMs: 2_000 }),
    );
    await emulated.clock.advance(120_000);
    const late = (error as WaitTimeoutError).job.wait();
    expect(await emulated.failure(late)).toMatchObject({ name: "JobExpiredError", reason: "retention" });
  });

  test("a failed job causes an error", async () => {
    await using emulated = await startQueue({
      handler: () => {
        throw new Error("no such model");
      },
    });
    const error = await emulated.failure(emulated.queue.runSync({ input: {} }));
    expect(error).toBeInstanceOf(JobFailedError);
    expect(error.message).toContain("no such model");
  });

  test("a job whose response is lost is not submitted again", async () => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "runsync" }, effect: { reset: true, when: "after" } });
    expect(await emulated.failure(emulated.queue.runSync({ input: {} }))).toBeInstanceOf(SubmitUncertainError);
    expect(emulated.calls()).toEqual(["runsync"]);
  });

  test("a call that gets no response ends as uncertain at the caller's deadline", async () => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "runsync" }, effect: { hang: true, when: "after" } });
    const startedAt = emulated.clock.now();
    const error = await emulated.failure(emulated.queue.runSync({ input: {} }, { timeoutMs: 20_000 }));
    expect(error).toBeInstanceOf(SubmitUncertainError);
    expect(emulated.clock.now() - startedAt).toBeLessThan(20_500);
  });

  test("a call without a budget allows enough time for the service's wait and a response, not only the client's usual 30 s", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    await emulated.run(emulated.queue.runSync({ input: { ms: 250_000 } }, { wait: 300_000 }));
    expect(emulated.calls()).toEqual(["runsync"]);
  });

  test("a synchronous job is refused before any call if a time is out of range", async () => {
    await using emulated = await startQueue();
    for (const times of [{ wait: 999 }, { wait: 300_001 }, { timeoutMs: 1_999 }]) {
      expect(await emulated.failure(emulated.queue.runSync({ input: {} }, times))).toBeInstanceOf(InvalidInputError);
    }
    expect(emulated.calls()).toEqual([]);
  });

  test("a synchronous job is cancelled if its caller aborts and has requested that, even right after the submit", async () => {
    for (const afterMs of [500, 5_000]) {
      await using emulated = await startQueue({ handler: sleeper });
      const controller = new AbortController();
      const job = emulated.failure(
        emulated.queue.runSync({ input: { ms: 60_000 } }, { signal: controller.signal, onAbort: "cancel" }),
      );
      await emulated.clock.advance(afterMs);
      controller.abort(new Error("gone"));
      expect((await job).message).toBe("gone");
      expect(emulated.calls()).toContain("cancel");
      expect((await emulated.run(emulated.queue.health())).jobs).toMatchObject({ inProgress: 0, inQueue: 0 });
    }
  });

  test("a job is cancelled on request even if its caller aborts before the service has returned its id", async () => {
    const controller = new AbortController();
    await using server = await startScriptedServer(({ path }) => {
      if (path.endsWith("/run")) controller.abort(new Error("gone"));
      return { body: { id: "job-1", status: path.includes("cancel") ? "CANCELLED" : "IN_QUEUE" } };
    });
    const client = clientOf(server);
    const options = { signal: controller.signal, onAbort: "cancel" } as const;
    await expect(client.endpoint("ep").runSync({ input: {} }, options)).rejects.toThrow("gone");
    expect(server.requests.map(({ path }) => path)).toEqual(["/v2/ep/run", "/v2/ep/cancel/job-1"]);
    await client.close();
  });

  test("a call with onAbort cancel ends at the caller's deadline", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const options = { timeoutMs: 5_000, signal: new AbortController().signal, onAbort: "cancel" } as const;
    const error = await emulated.failure(emulated.queue.runSync({ input: { ms: 60_000 } }, options));
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect((await emulated.run((error as WaitTimeoutError).job.wait())).output).toEqual({ slept: 60_000 });
  });

  test("a result without an id is returned, and any other response without an id is uncertain", async () => {
    const bodies: unknown[] = [{ status: "COMPLETED", output: { text: "paid for" } }, { status: "COMPLETED" }];
    await using server = await startScriptedServer((_, number) => ({ body: bodies[number - 1] }));
    const client = clientOf(server);
    const done = await client.endpoint("ep").runSync({ input: {} });
    expect(done).toMatchObject({ status: "COMPLETED", output: { text: "paid for" } });
    await expect(client.endpoint("ep").runSync({ input: {} })).rejects.toBeInstanceOf(SubmitUncertainError);
    await client.close();
  });

  test("a job that failed with a deep or very long error causes a JobFailedError with a short message", async () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const bodies = [
      `{"id":"j1","status":"FAILED","error":${deep}}`,
      { id: "j2", status: "FAILED", error: "e".repeat(9_000_000) },
    ];
    await using server = await startScriptedServer((_, number) => ({ body: bodies[number - 1] }));
    const client = clientOf(server);
    for (const _ of bodies) {
      const error = await client
        .endpoint("ep")
        .runSync({ input: {} })
        .catch((reason: Error) => reason);
      expect(error).toBeInstanceOf(JobFailedError);
      expect((error as Error).message.length).toBeLessThan(2_200);
    }
    await client.close();
  });
});
