import { mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import { ServerlessGpuError } from "../errors";
import { lockFile } from "./fileLock";
import { applied, isFree, type Journal, type JournalEntry, type OpenJournal, takenOver } from "./journal";
import { cannotOpen } from "./journalErrors";
import { type FileHeader, JournalFile } from "./journalFile";
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
      const unlock = await lockFile(place, "the journal", FOR_SEVERAL).catch((cause: unknown) => {
        throw cause instanceof ServerlessGpuError ? cause : cannotOpen(file, cause);
      });
      try {
        const header: FileHeader = { serverlessGpuJournal: 1, ...batch };
        const opened = await JournalFile.open(place, header);
        try {
          requireSameBatch(`the journal ${file}`, opened.header, batch);
          return openJournal(opened, unlock);
        } catch (error) {
          await opened.close();
          throw error;
        }
      } catch (error) {
        await unlock();
        throw error;
      }
    },
  };
}

const FOR_SEVERAL = "use a database for several processes (postgresJournal)";

async function placeOf(file: string): Promise<string> {
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

function openJournal(file: JournalFile, unlock: () => Promise<void>): OpenJournal {
  // This process holds the lock, so no other owner is still running.
  const seen = (entry: JournalEntry, owner: string) => (entry.owner === owner ? entry : takenOver(entry, owner));

  async function look(owner: string, keys: readonly string[]): Promise<JournalEntry[]> {
    const entries = await Promise.all(keys.map((key) => file.get(key)));
    return entries.filter((entry) => entry !== undefined).map((entry) => seen(entry, owner));
  }

  return {
    leaseMs: Number.POSITIVE_INFINITY,
    async claim(owner, keys, again) {
      const found = new Map((await look(owner, keys)).map((entry) => [entry.key, entry]));
      const free = keys.filter((key) => isFree(found.get(key), owner, again));
      const claimed = free.map((key): JournalEntry => ({ key, state: "claimed", owner }));
      await file.append(claimed, true);
      for (const entry of claimed) found.set(entry.key, entry);
      return [...found.values()];
    },
    collect: look,
    async record(_owner, changes) {
      const news: JournalEntry[] = [];
      for (const change of changes) {
        const before = await file.get(change.key);
        const entry = before && applied(before, change);
        if (entry && entry !== before) news.push(entry);
      }
      // Only a lost job id costs money. If the end of a job is lost, the job is read again.
      const mustLast = news.some(({ state }) => state !== "settled" && state !== "delivered");
      await file.append(news, mustLast);
      return true;
    },
    async close() {
      await file.close();
      await unlock();
    },
  };
}
