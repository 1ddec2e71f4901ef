import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Batch, BatchResult } from "../../../sdk/batches/batchResults";
import { NotFoundError } from "../../../sdk/errors/errors";
import { fileJournal } from "../../../sdk/journal/fileJournal";
import { heldJournal } from "../../support/heldJournal";
import { type EmulatedQueue, startQueue } from "../../support/queue";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "journal-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function collect(batch: Batch<object, unknown>): Promise<BatchResult[]> {
  const all: BatchResult[] = [];
  for await (const result of batch) all.push(result);
  return all;
}

const JOB_MS = 40 * 60_000;

test("a run with another account's key does not record the jobs as expired, and the next run gets their results", async () => {
  await using own = await startQueue({
    workers: 3,
    handler: async ({ input }, { sleep }) => {
      await sleep(JOB_MS);
      return input;
    },
  });
  await using other = await startQueue();
  const inputs = [{ n: 0 }, { n: 1 }, { n: 2 }];
  const request = { policy: { executionTimeout: 2 * JOB_MS } };
  const batch = (by: EmulatedQueue, signal?: AbortSignal) => {
    const journal = heldJournal(by, fileJournal(path.join(folder, "journal")));
    return by.client.endpoint(own.endpointId).runMany(inputs, { journal, batch: "pages", request, signal });
  };

  const stopped = new AbortController();
  const first = batch(own, stopped.signal).next();
  first.catch(() => {});
  while (own.calls().filter((call) => call === "run").length < 3) await own.run(own.clock.advance(100));
  stopped.abort();
  await own.run(first.catch(() => {}));

  for (const each of [own, other]) await each.run(each.clock.advance(35 * 60_000));
  const unknown = await other.run(collect(batch(other)));
  expect(unknown.map(({ error }) => error)).toEqual(Array(3).fill(expect.any(NotFoundError)));
  const results = await own.run(collect(batch(own)));
  expect(results).toHaveLength(3);
  expect(results.map(({ output }) => output)).toEqual(expect.arrayContaining(inputs));
});
