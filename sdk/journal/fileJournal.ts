import { mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import { type FileLock, FileLockedError, lockFile } from "../contract/fileLock";
import { applied, isFree, type Journal, type JournalEntry, type OpenJournal, takenOver } from "./journal";
import { cannotOpen, JournalLockedError } from "./journalErrors";
import { FILE_FORMAT, JournalFile, type StoredResult } from "./journalFile";
import { requireSameBatch } from "./sameBatch";

/**
 * Keeps the record of a batch in a file, for one process at a time. Lines are only ever appended.
 * Each group of claims and each group of job ids is written with one `fsync`. Even if the process
 * is killed or the machine loses power, no claim and no job id that was in use is lost. An
 * unfinished last line is ignored. When the file is opened, lines that were replaced by later lines
 * are removed if they make up more than half of the file. Memory use is 35 to 70 bytes per key.
 * @param file the path of the file. The file and its folder are created
 * @example
 * const journal = fileJournal("summaries.journal");
 * for await (const { input, output } of endpoint.runMany(inputs, { journal, batch: "summaries" })) {
 *   await save(input, output);
 * }
 */
export function fileJournal(file: string): Journal {
  return {
    async open(batch) {
      const place = await placeOf(file);
      const lock = await lockFile(place).catch((cause: unknown) => {
        throw lockedError("the journal", FOR_SEVERAL, cause) ?? cannotOpen(file, cause);
      });
      const check = () => checkLock(lock, "the journal", FOR_SEVERAL);
      try {
        const header = { serverlessGpuJournal: FILE_FORMAT, ...batch };
        const opened = await JournalFile.open(place, header, { isTakenOver: lock.isTakenOver, check });
        try {
          requireSameBatch(`the journal ${file}`, opened.header, batch);
          return openJournal(opened, lock);
        } catch (error) {
          await opened.close();
          throw error;
        }
      } catch (error) {
        await lock.release();
        throw error;
      }
    },
  };
}

const FOR_SEVERAL = "use a journal in PostgreSQL for several processes";

/**
 * Returns the error for a file that another process uses; `undefined` if the cause is different.
 * @param what a description of the file
 * @param instead the alternative for several processes
 */
export function lockedError(what: string, instead: string, cause: unknown): JournalLockedError | undefined {
  if (!(cause instanceof FileLockedError)) return undefined;
  return new JournalLockedError(
    `${what} ${cause.message}: one process at a time can use a file. Wait until it has ended, or ${instead}. A lock whose ` +
      "process was killed is free after at most 15 seconds",
    { cause },
  );
}

/**
 * Checks that this process still holds the lock of a file.
 * @throws JOURNAL_LOCKED
 */
export async function checkLock(lock: FileLock, what: string, instead: string): Promise<void> {
  await lock.check().catch((cause: unknown) => {
    throw lockedError(what, instead, cause) ?? cause;
  });
}

/** Returns the path without links, even if the file does not exist yet. Creates its folder. */
export async function placeOf(file: string): Promise<string> {
  const whole = path.resolve(file);
  try {
    await mkdir(path.dirname(whole), { recursive: true });
    return await realpath(whole).catch(async () =>
      path.join(await realpath(path.dirname(whole)), path.basename(whole)),
    );
  } catch (cause) {
    throw cannotOpen(file, cause);
  }
}

function openJournal(file: JournalFile, lock: FileLock): OpenJournal {
  // This process holds the lock, so no other owner is still running.
  const seen = (entry: JournalEntry, owner: string) => (entry.owner === owner ? entry : takenOver(entry, owner));

  async function look(owner: string, keys: readonly string[]): Promise<JournalEntry[]> {
    const entries = await Promise.all(keys.map((key) => file.get(key)));
    return entries.filter((entry) => entry !== undefined).map((entry) => seen(entry, owner));
  }

  return {
    leaseMs: Number.POSITIVE_INFINITY,
    isHeld: () => lock.isFresh(),
    async claim(owner, keys, again) {
      const entries = await look(
        owner,
        keys.map(({ key }) => key),
      );
      const found = new Map(entries.map((entry) => [entry.key, entry]));
      const free = keys.filter(({ key }) => isFree(found.get(key), owner, again, () => true));
      const claimed = free.map(({ key, hash }): JournalEntry => ({ key, hash, state: "claimed", owner }));
      await file.append(claimed, true);
      for (const entry of claimed) found.set(entry.key, entry);
      return [...found.values()];
    },
    collect: look,
    async record(_owner, changes) {
      const news: JournalEntry[] = [];
      const results: StoredResult[] = [];
      for (const change of changes) {
        const { key, result } = change;
        const before = await file.get(key);
        const entry = before && applied(before, change);
        if (!entry || entry === before) continue;
        news.push(entry);
        if (result !== undefined) results.push({ result, key });
      }
      // Only a lost job id costs money. If the end of a job is lost, the job is read again.
      const mustLast = news.some(({ state }) => !["settled", "delivered", "failed"].includes(state));
      await file.append([...results, ...news], mustLast);
      return true;
    },
    withJobs: (jobIds) => file.withJobs(new Set(jobIds)),
    underWay: async () => file.open.filter(({ state }) => state === "submitted" || state === "settled"),
    result: (key) => file.result(key),
    async close() {
      await file.close();
      await lock.release();
    },
  };
}
