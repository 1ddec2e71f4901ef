import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { readdir, readFile, rm, stat, statfs, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { BatchResult } from "../../../sdk/batches/batchResults";
import { SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import { fileJournal } from "../../../sdk/journal/fileJournal";
import { JournalUnavailableError } from "../../../sdk/journal/journalErrors";
import { heldJournal } from "../../support/heldJournal";
import { startQueue } from "../../support/queue";

const DISK_BYTES = 96 * 1024;
/** Enough for some of the lines of a batch of 80. */
const FREE_BYTES = 24 * 1024;

/** A disk of its own, which only root can mount. */
const folder = mkdtempSync(path.join(tmpdir(), "disk-"));
const isMounted =
  process.platform === "linux" &&
  spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "tmpfs", folder]).status === 0;
const withDisk = isMounted ? test : test.skip;
const file = path.join(folder, "batch.journal");
const filler = path.join(folder, "filler");

afterEach(async () => {
  for (const name of await readdir(folder)) await rm(path.join(folder, name));
});

afterAll(() => {
  if (isMounted) spawnSync("umount", [folder]);
  rmSync(folder, { recursive: true, force: true });
});

const fill = (bytes: number) => writeFile(filler, Buffer.alloc(bytes));

/** Fills the disk to its last byte. */
const fillWhole = () => fill(DISK_BYTES).catch(() => {});

const named = (...keys: readonly string[]) => keys.map((key) => ({ key }));

const BATCH = { batch: "pages", endpointId: "e1", keyVersion: "1" };

async function collect(batch: AsyncIterable<BatchResult>, into: BatchResult[] = []): Promise<BatchResult[]> {
  for await (const result of batch) into.push(result);
  return into;
}

withDisk("a batch stops submitting when the disk is full, loses nothing, and goes on once there is space", async () => {
  const runs = new Map<unknown, number>();
  const inputs = Array.from({ length: 80 }, (_, n) => ({ n }));
  await using emulated = await startQueue({
    workers: 20,
    emulator: { rateLimits: { limits: "off" } },
    async handler({ input }, { sleep }) {
      runs.set(input.n, (runs.get(input.n) ?? 0) + 1);
      await sleep(1_000);
      return { n: input.n };
    },
  });
  const start = () =>
    emulated.queue.runMany(inputs, {
      journal: heldJournal(emulated, fileJournal(file)),
      batch: "pages",
      concurrency: 10,
    });
  await fill(DISK_BYTES - FREE_BYTES);
  const first: BatchResult[] = [];
  const error = (await emulated.failure(collect(start(), first))) as JournalUnavailableError;
  expect(error).toBeInstanceOf(JournalUnavailableError);
  expect(error.message).toMatch(/nothing more was submitted: .*ENOSPC.*free space on its disk.*run the batch again/);
  expect(runs.size).toBeGreaterThan(0);
  expect(runs.size).toBeLessThan(80);
  expect(first.filter(({ output }) => output !== undefined)).toHaveLength(runs.size);
  await rm(filler);
  const rest = await emulated.run(collect(start()));
  // Only jobs whose ids found no space are uncertain, and the error has named them.
  const uncertain = rest.filter((result) => result.error instanceof SubmitUncertainError).map(({ key }) => key);
  expect(uncertain.sort()).toEqual(error.unrecorded.map(({ key }) => key).sort());
  expect(rest.filter((result) => result.error && !(result.error instanceof SubmitUncertainError))).toEqual([]);
  expect(runs.size).toBe(80);
  expect([...runs.values()].filter((count) => count > 1)).toEqual([]);
});

withDisk("a write to a full disk leaves no part of a line, and works once there is space", async () => {
  const journal = await fileJournal(file).open(BATCH);
  await fillWhole();
  const keys = Array.from({ length: 200 }, (_, n) => `k${n}`);
  await expect(journal.claim("a", named(...keys), [])).rejects.toThrow(/ENOSPC/);
  await rm(filler);
  await journal.claim("a", named("k1"), []);
  await journal.close();
  const again = await fileJournal(file).open(BATCH);
  expect((await again.collect("b", keys)).map(({ key, state }) => `${key} ${state}`)).toEqual(["k1 uncertain"]);
  await again.close();
});

withDisk("a journal on a full disk is not opened, and the error says why", async () => {
  await (await fileJournal(file).open(BATCH)).close();
  await fillWhole();
  await expect(fileJournal(file).open(BATCH)).rejects.toThrow(JournalUnavailableError);
  await expect(fileJournal(file).open(BATCH)).rejects.toThrow(/batch\.journal cannot be opened: ENOSPC.*[Ff]ree space/);
  await rm(filler);
  await (await fileJournal(file).open(BATCH)).close();
  expect((await readdir(folder)).sort()).toEqual(["batch.journal"]);
});

withDisk("a compaction that finds no space leaves the journal as it was, and nothing else", async () => {
  const journal = await fileJournal(file).open(BATCH);
  const keys = Array.from({ length: 60 }, (_, n) => `${n}`.padStart(40, "k"));
  for (let round = 0; round < 9; round++) {
    await journal.claim("a", named(...keys), []);
    await journal.record(
      "a",
      keys.map((key) => ({ key, owner: "a", state: "released" })),
    );
  }
  await journal.close();
  const before = await readFile(file, "utf8");
  // There is room for the lock and for a part of a second file.
  await fillWhole();
  const { bfree, bsize } = await statfs(folder);
  expect(bfree).toBe(0);
  await truncate(filler, (await stat(filler)).size - 2 * bsize);
  await (await fileJournal(file).open(BATCH)).close();
  expect(await readFile(file, "utf8")).toBe(before);
  expect((await readdir(folder)).sort()).toEqual(["batch.journal", "filler"]);
  await rm(filler);
  const again = await fileJournal(file).open(BATCH);
  expect(await again.claim("b", named(...keys), [])).toHaveLength(60);
  await again.close();
});
