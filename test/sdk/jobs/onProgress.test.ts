import type { JobStatus } from "../../../sdk/jobs/jobRecord";
import { startQueue } from "../../support/queue";

/** A worker that sends two updates, the first one twice. */
const reporter = async (_: unknown, { progress, sleep }: Tools) => {
  for (const percent of [10, 10, 60]) {
    progress({ percent });
    await sleep(20_000);
  }
  return "done";
};

interface Tools {
  progress(output: unknown): void;
  sleep(ms: number): Promise<void>;
}

test("onProgress is called once for each new update from the worker, but not for the result", async () => {
  await using emulated = await startQueue({ handler: reporter });
  const job = await emulated.run(emulated.queue.run({ input: {} }));
  const seen: unknown[] = [];
  const statuses: JobStatus[] = [];
  const done = await emulated.run(
    job.wait({
      onProgress: (update, { id, status }) => seen.push([update, id, status]),
      onStatus: (status) => statuses.push(status),
    }),
  );
  expect(seen).toEqual([
    [{ percent: 10 }, job.id, "IN_PROGRESS"],
    [{ percent: 60 }, job.id, "IN_PROGRESS"],
  ]);
  expect(done.output).toBe("done");
  expect(statuses).toEqual(["IN_PROGRESS", "COMPLETED"]);
  expect(emulated.timers()).toBe(0);
});

test("an error thrown by onProgress ends the wait, and the job continues", async () => {
  await using emulated = await startQueue({ handler: reporter });
  const job = await emulated.run(emulated.queue.run({ input: {} }));
  const error = new Error("the callback failed");
  expect(await emulated.failure(job.wait({ onProgress: () => Promise.reject(error) }))).toBe(error);
  expect((await emulated.run(job.wait())).output).toBe("done");
  const none: unknown[] = [];
  await emulated.run(job.wait({ onProgress: (update) => none.push(update) }));
  expect(none).toEqual([]);
});
