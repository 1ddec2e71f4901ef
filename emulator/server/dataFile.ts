import { readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { type FileLock, FileLockedError, lockFile } from "../../sdk/contract/fileLock";
import { systemReason } from "../io/systemReason";

/**
 * The file that stores the emulator's state, as JSON. Each write replaces the whole file
 * atomically: it writes a temporary file and renames it. Changes made during a write are saved
 * together by the next one.
 */
export class DataFile {
  readonly #file: string;
  #lock: FileLock | undefined;
  readonly #snapshot: () => unknown;
  #changes = 0;
  #savedChanges = 0;
  #writing: Promise<void> | undefined;

  /** @param snapshot returns the state to save as plain JSON */
  constructor(file: string, snapshot: () => unknown) {
    // A symbolic link is kept, and all links to a file share the file's lock.
    this.#file = fileOf(file);
    this.#snapshot = snapshot;
  }

  /**
   * Locks the file against other emulators until `close`.
   * @throws Error if another emulator has locked it, or if the file has several hard links
   */
  async open(): Promise<void> {
    this.#refuseHardLinks();
    this.#lock = await lockFile(this.#file).catch((error) => {
      throw error instanceof FileLockedError ? this.#inUse(error) : this.#notWritable(error);
    });
  }

  async close(): Promise<void> {
    await this.#lock?.release();
  }

  #inUse({ pid, host }: FileLockedError): Error {
    const who = pid === process.pid && host === hostname() ? "this process" : `process ${pid} on ${host}`;
    return new Error(
      `the data file ${this.#file} is in use by another emulator, in ${who}. Stop that one first, or name another data file`,
    );
  }

  /**
   * A rewrite would leave the other hard links with an old copy, and each link would have its own
   * lock.
   */
  #refuseHardLinks(): void {
    const names = statSync(this.#file, { throwIfNoEntry: false })?.nlink ?? 1;
    if (names < 2) return;
    throw new Error(
      `the data file ${this.#file} has ${names} names (hard links), and a change would reach only one of them. ` +
        "Use a copy of it, or symbolic links",
    );
  }

  /**
   * Passes the file's contents to `restore`. Returns `false` if the file does not exist yet.
   * @throws Error if the file cannot be read, or if `restore` throws
   */
  load(restore: (snapshot: unknown) => void): boolean {
    let text: string;
    try {
      text = readFileSync(this.#file, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw new Error(`the data file ${this.#file} cannot be read: ${systemReason(error)}`, { cause: error });
    }
    try {
      restore(JSON.parse(text));
      return true;
    } catch (cause) {
      const reason = cause instanceof SyntaxError ? "It does not contain JSON." : (cause as Error).message;
      throw new Error(
        `the data file ${this.#file} is not data of an emulator, or is damaged. Name another file, or move this one away. ${reason}`,
        {
          cause,
        },
      );
    }
  }

  /** The number of changes so far. */
  get changes(): number {
    return this.#changes;
  }

  changed(): void {
    this.#changes += 1;
  }

  /** Resolves when every change so far is in the file. */
  async saved(): Promise<void> {
    const wanted = this.#changes;
    while (this.#savedChanges < wanted) {
      this.#writing ??= this.#write().finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
  }

  #notWritable(cause: unknown): Error {
    return new Error(`the data file ${this.#file} cannot be written: ${systemReason(cause)}`, { cause });
  }

  async #write(): Promise<void> {
    const included = this.#changes;
    try {
      await this.#lock?.check();
      const next = `${this.#file}.tmp`;
      await writePrivately(next, JSON.stringify(this.#snapshot()));
      await rename(next, this.#file);
    } catch (cause) {
      throw cause instanceof FileLockedError ? this.#inUse(cause) : this.#notWritable(cause);
    }
    this.#savedChanges = included;
  }
}

/** Returns the file that a path refers to, following links, even if the file does not exist yet. */
function fileOf(given: string): string {
  try {
    return realpathSync(given);
  } catch {
    const target = linkTarget(given);
    return target === undefined ? path.join(folderOf(given), path.basename(given)) : fileOf(target);
  }
}

/** Returns where a dangling link points; `undefined` for any other path. */
function linkTarget(file: string): string | undefined {
  try {
    return path.resolve(path.dirname(file), readlinkSync(file));
  } catch {
    return undefined;
  }
}

function folderOf(file: string): string {
  const folder = path.dirname(file);
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/**
 * Returns the key in a data file; `undefined` if there is none. `load` reports unreadable files.
 */
export function keyInDataFile(file: string | undefined): string | undefined {
  try {
    const { apiKey } = JSON.parse(readFileSync(file ?? "", "utf8")) as { apiKey?: unknown };
    return typeof apiKey === "string" && apiKey !== "" ? apiKey : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Only the owner may read the file, because jobs may contain storage credentials. A file left by a
 * killed process may have another mode.
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
