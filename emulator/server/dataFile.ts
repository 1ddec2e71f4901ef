import { readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { systemReason } from "../io/systemReason";
import { createDataLock, DataFileInUse } from "./dataLock";

/** The file that keeps the emulator's state. */
export interface DataFile {
  /** Locks the file against other emulators until `close`. Throws if another one has it. */
  open(): void;
  close(): void;
  /**
   * Passes the contents of the file to `restore`. Returns `false` if the file does not exist yet.
   * @throws Error if the file cannot be read, or if `restore` throws
   */
  load(restore: (snapshot: unknown) => void): boolean;
  /** Must be called at every change. */
  changed(): void;
  /** Resolves when every change so far is in the file. */
  saved(): Promise<void>;
}

/**
 * Creates a data file. A write is atomic: it creates a temporary file and renames it. Changes
 * during a write are saved together by the next one.
 * @param snapshot returns the state to save, as plain JSON
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
        const reason = cause instanceof SyntaxError ? "It does not contain JSON." : (cause as Error).message;
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

/**
 * Returns the key in a data file; `undefined` if there is none. `load` reports a file that cannot
 * be read.
 */
export function keyInDataFile(file: string | undefined): string | undefined {
  try {
    const { apiKey } = JSON.parse(readFileSync(file ?? "", "utf8"));
    return typeof apiKey === "string" && apiKey !== "" ? apiKey : undefined;
  } catch {
    return undefined;
  }
}

/**
 * For its owner alone: jobs may hold storage credentials. A file that a kill left behind may have
 * another mode.
 */
async function writePrivately(file: string, text: string): Promise<void> {
  const handle = await open(file, "w", 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}
