import { readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { systemReason } from "../io/systemReason";
import { createDataLock, DataFileInUse } from "./dataLock";

/** Keeps the emulator's state in a file, so that it survives the process. */
export interface DataFile {
  /** Keeps the file from other emulators until `close`. Throws when one of them has it. */
  open(): void;
  close(): void;
  /**
   * Hands on what the file holds; returns false when there is none yet. Throws when it cannot be read, or when `restore`
   * does not take it.
   */
  load(restore: (snapshot: unknown) => void): boolean;
  /** To be called at every change. */
  changed(): void;
  /** Resolves once every change so far is in the file. */
  saved(): Promise<void>;
}

/**
 * Writes are atomic: the new state goes into a file of its own, which then takes the old one's place. Changes that come
 * while one is under way go together into the next.
 * @param snapshot the state to keep, as plain JSON
 */
export function createDataFile(file: string, snapshot: () => unknown): DataFile {
  const lock = createDataLock(file);
  let changes = 0;
  let savedChanges = 0;
  let writing: Promise<void> | undefined;

  const notWritable = (cause: unknown) =>
    new Error(`the data file ${file} cannot be written: ${systemReason(cause)}`, { cause });

  async function write(): Promise<void> {
    const included = changes;
    const next = `${file}.tmp`;
    const text = JSON.stringify(snapshot());
    try {
      await writePrivately(next, text);
      await rename(next, file);
    } catch (cause) {
      throw notWritable(cause);
    }
    savedChanges = included;
  }

  return {
    open() {
      try {
        lock.acquire();
      } catch (error) {
        throw error instanceof DataFileInUse ? error : notWritable(error);
      }
    },
    close: lock.release,
    load(restore) {
      let text: string;
      try {
        text = readFileSync(file, "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
        throw new Error(`the data file ${file} cannot be read: ${systemReason(error)}`, { cause: error });
      }
      try {
        restore(JSON.parse(text));
        return true;
      } catch (cause) {
        const reason = cause instanceof SyntaxError ? "It holds no JSON." : (cause as Error).message;
        throw new Error(`the data file ${file} is not the emulator's. Name another or remove it. ${reason}`, { cause });
      }
    },
    changed() {
      changes += 1;
    },
    async saved() {
      const wanted = changes;
      while (savedChanges < wanted) {
        writing ??= write().finally(() => {
          writing = undefined;
        });
        await writing;
      }
    },
  };
}

/** For its owner alone: jobs may hold storage credentials. A file that a kill left behind may have another mode. */
async function writePrivately(file: string, text: string): Promise<void> {
  const handle = await open(file, "w", 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}
