import { type FileHandle, open, realpath, rename, stat } from "node:fs/promises";
import { type FileLock, lockFile } from "../../sdk/contract/fileLock";
import { checkLock, lockedError } from "../../sdk/journal/fileJournal";
import { wholeLines } from "../../sdk/journal/fileLines";
import { KeyIndex } from "../../sdk/journal/keyIndex";

/** Don't keep more characters than this, because results can be 20 MB each. */
const MOST_KEPT = 2 ** 24;

const INSTEAD = "give --output another name";

/** A result that the file contains. */
interface Written {
  readonly isFailed: boolean;
  /** The first 12 digits of the input's hash. */
  readonly hash?: string | undefined;
}

/** A result, with its key and its job. */
interface WrittenJob extends Written {
  readonly key: string;
  readonly jobId: string;
}

/** An output file with one line per key, for one process at a time. */
export class OutputFile {
  readonly #place: string;
  #handle: FileHandle;
  readonly #keys: WrittenKeys;
  readonly #lock: FileLock;
  #size: number;
  #lines: string[] = [];
  #kept = 0;

  private constructor(place: string, handle: FileHandle, keys: WrittenKeys, size: number, lock: FileLock) {
    this.#place = place;
    this.#handle = handle;
    this.#keys = keys;
    this.#size = size;
    this.#lock = lock;
  }

  /**
   * Opens the file and removes an incomplete last line, which a killed process may have left.
   * @throws JournalLockedError if another process uses the file
   * @throws Error if it is not a file, or contains anything but results
   */
  static async open(file: string): Promise<OutputFile> {
    const isOther = await stat(file).then(
      (found) => !found.isFile(),
      () => false,
    );
    if (isOther) throw new Error(`${file} is not a file. The command reads its results again: ${INSTEAD}`);
    // The lock belongs to the file itself, not to a link to it.
    await (await open(file, "a")).close();
    const place = await realpath(file);
    const lock = await lockFile(place).catch((cause: unknown) => {
      throw lockedError("the output", INSTEAD, cause) ?? cause;
    });
    const handle = await open(place, "a+");
    try {
      const keys = new WrittenKeys();
      let size = 0;
      for await (const { text, end } of wholeLines(place)) {
        keys.note(text, file);
        size = end;
      }
      size = await endLastLine(handle, file, keys, size);
      return new OutputFile(place, handle, keys, size, lock);
    } catch (error) {
      await handle.close();
      await lock.release();
      throw error;
    }
  }

  /** Removes the results of failed jobs. */
  async removeFailed(): Promise<void> {
    if (!this.#keys.hasFailed) return;
    await checkLock(this.#lock, "the output", INSTEAD);
    await this.#handle.close();
    await removeFailed(this.#place);
    this.#handle = await open(this.#place, "a+");
    this.#size = (await this.#handle.stat()).size;
    this.#keys.forgetFailed();
  }

  /** `true` if the file contains no results. */
  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** `true` if the added lines should be written now. */
  get isFull(): boolean {
    return this.#kept > MOST_KEPT;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  get(key: string): Written | undefined {
    return this.#keys.get(key);
  }

  /** Reads the results of these keys. */
  async resultsOf(keys: ReadonlySet<string>): Promise<WrittenJob[]> {
    const found: WrittenJob[] = [];
    for await (const { text } of wholeLines(this.#place)) {
      const result = resultIn(text);
      if (result && keys.has(result.key)) found.push(result);
    }
    return found;
  }

  /** Adds a line unless the file already contains one with this key. */
  add(key: string, line: string, written: Written): void {
    if (this.has(key)) return;
    this.#keys.set(key, written);
    this.#lines.push(`${line}\n`);
    this.#kept += line.length;
  }

  /** Writes the added lines. Once the promise resolves, they survive a crash of the machine. */
  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const bytes = Buffer.from(this.#lines.join(""));
    this.#lines = [];
    this.#kept = 0;
    await checkLock(this.#lock, "the output", INSTEAD);
    try {
      await this.#handle.appendFile(bytes);
    } catch (error) {
      // Don't leave half a line in the middle of the file for the next run.
      await this.#handle.truncate(this.#size).catch(() => {});
      throw error;
    }
    this.#size += bytes.length;
    await this.#handle.datasync();
  }

  async close(): Promise<void> {
    await this.#handle.close();
    await this.#lock.release();
  }
}

/** The keys of a file. Each is kept as a number, because there can be millions. */
class WrittenKeys {
  readonly #index = new KeyIndex();
  #failed: string[] = [];

  get hasFailed(): boolean {
    return this.#failed.length > 0;
  }

  get(key: string): Written | undefined {
    const value = this.#index.get(key) ?? REMOVED;
    if (value === REMOVED) return undefined;
    const hash = Math.floor(value / 4);
    return { isFailed: value % 2 === 1, hash: hash === 0 ? undefined : hash.toString(16).padStart(12, "0") };
  }

  set(key: string, { isFailed, hash = "0" }: Written): void {
    this.#index.set(key, Number.parseInt(hash, 16) * 4 + (isFailed ? 1 : 0));
    if (isFailed) this.#failed.push(key);
  }

  /** @throws Error if the line is not a result */
  note(line: string, file: string): void {
    const result = resultIn(line);
    if (!result) throw notResults(file);
    this.set(result.key, result);
  }

  forgetFailed(): void {
    for (const key of this.#failed) this.#index.set(key, REMOVED);
    this.#failed = [];
  }
}

/** The value of a key whose line was removed. */
const REMOVED = 2;

/** Writes the other lines to a new file with the same mode, which replaces the old one. */
async function removeFailed(file: string): Promise<void> {
  const next = `${file}.new`;
  const handle = await open(next, "w", 0o600);
  try {
    await handle.chmod((await stat(file)).mode);
    for await (const { text } of wholeLines(file)) {
      if (!resultIn(text)?.isFailed) await handle.writeFile(`${text}\n`);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, file);
}

/** The beginning of each line. */
const BEGINNING = '{"key":"';

/**
 * Ends a last line that has no line break: a whole result gets one, and the beginning of a result
 * is removed. Returns the size of the file.
 */
async function endLastLine(handle: FileHandle, file: string, keys: WrittenKeys, size: number): Promise<number> {
  const left = (await handle.stat()).size - size;
  if (left === 0) return size;
  const { buffer } = await handle.read(Buffer.alloc(left), 0, left, size);
  const text = buffer.toString();
  if (resultIn(text)) {
    keys.note(text, file);
    await handle.appendFile("\n");
    return size + left + 1;
  }
  // After a power failure, some file systems show zeros where a line was being written.
  const isCut = text.startsWith(BEGINNING.slice(0, left)) && !isJson(text);
  if (!isCut && !text.startsWith("\0")) throw notResults(file);
  await handle.truncate(size);
  return size;
}

/** Returns the result on a line; `undefined` if the line is not a whole result. */
function resultIn(line: string): WrittenJob | undefined {
  try {
    const { key, jobId, hash, error } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (typeof key !== "string" || typeof jobId !== "string") return undefined;
    return { key, jobId, isFailed: error !== undefined, hash: typeof hash === "string" ? hash : undefined };
  } catch {
    return undefined;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function notResults(file: string): Error {
  return new Error(
    `${file} has a line that is not a result of a batch. Nothing was changed: give --output another name`,
  );
}
