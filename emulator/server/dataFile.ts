import { constants, readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { systemReason } from "../io/systemReason";
import { createDataLock, DataFileInUse } from "./dataLock";
import { createStateChanges, readState, type StateChanges, type StateSource } from "./savedState";

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
  readonly changed: StateChanges["changed"];
  /** Resolves when every change so far is in the file. */
  saved(): Promise<void>;
  /** Resolves when the file is one JSON value, without appended changes. */
  compacted(): Promise<void>;
}

/** Below this size, appended changes are not worth a rewrite, in bytes. */
const MIN_APPENDED = 2 ** 20;

/**
 * Creates a data file. Its first line is the whole state, as JSON. Changes are appended as further
 * lines. When these exceed the first line, the file is rewritten, so that a change costs its own
 * size, not that of the state. A rewrite is atomic: it creates a temporary file and renames it.
 * Changes during a write are saved together by the next one.
 */
export function createDataFile(file: string, source: StateSource): DataFile {
  const lock = createDataLock(file);
  const state = createStateChanges(source);
  let wholeBytes = 0;
  let appendedBytes = 0;
  // Whatever the file contains at the start, it may end with half a line.
  let needsRewrite = true;
  let changes = 0;
  let savedChanges = 0;
  let writing: Promise<void> | undefined;

  const notWritable = (cause: unknown) =>
    new Error(`the data file ${file} cannot be written: ${systemReason(cause)}`, { cause });

  async function write(): Promise<void> {
    const included = changes;
    const isFull = appendedBytes > Math.max(wholeBytes, MIN_APPENDED);
    try {
      if (needsRewrite || isFull || !(await append(state.latest()))) await rewrite();
    } catch (cause) {
      // The changes of the failed write are noted nowhere else.
      needsRewrite = true;
      throw notWritable(cause);
    }
    savedChanges = included;
  }

  async function rewrite(): Promise<void> {
    const next = `${file}.tmp`;
    const text = state.whole();
    await writePrivately(next, text);
    await rename(next, file);
    wholeBytes = Buffer.byteLength(text);
    appendedBytes = 0;
    needsRewrite = false;
  }

  /** Returns `false` if the file is gone, or is not as this emulator has written it. */
  async function append(text: string): Promise<boolean> {
    const handle = await open(file, constants.O_WRONLY | constants.O_APPEND).catch((error) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    try {
      if ((await handle?.stat())?.size !== wholeBytes + appendedBytes) return false;
      await handle?.writeFile(text);
    } finally {
      await handle?.close();
    }
    appendedBytes += Buffer.byteLength(text);
    return true;
  }

  async function saved(): Promise<void> {
    const wanted = changes;
    while (savedChanges < wanted) {
      writing ??= write().finally(() => {
        writing = undefined;
      });
      await writing;
    }
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
        restore(readState(text));
        return true;
      } catch (cause) {
        const reason = cause instanceof SyntaxError ? "It does not contain JSON." : (cause as Error).message;
        throw new Error(`the data file ${file} is not the emulator's. Name another or remove it. ${reason}`, { cause });
      }
    },
    changed(endpointId, jobId) {
      changes += 1;
      state.changed(endpointId, jobId);
    },
    saved,
    async compacted() {
      await saved();
      // The file has every change. If it cannot be rewritten, the next start reads it as it is.
      if (appendedBytes > 0) await rewrite().catch(() => {});
    },
  };
}

/**
 * Returns the key in a data file; `undefined` if there is none. `load` reports a file that cannot
 * be read.
 */
export function keyInDataFile(file: string | undefined): string | undefined {
  try {
    const { apiKey } = readState(readFileSync(file ?? "", "utf8")) as { apiKey?: unknown };
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
