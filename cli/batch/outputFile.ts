import { type FileHandle, open, realpath } from "node:fs/promises";
import { wholeLines } from "../../sdk/journal/fileLines";
import { lockFile } from "../../sdk/journal/fileLock";
import { KeyIndex } from "../../sdk/journal/keyIndex";

/** Don't keep more characters than this, because results can have 20 MB each. */
const MOST_KEPT = 2 ** 24;

/** An output file with one line per key, for one process at a time. */
export class OutputFile {
  readonly #handle: FileHandle;
  readonly #keys: KeyIndex;
  readonly #unlock: () => Promise<void>;
  #size: number;
  #lines: string[] = [];
  #kept = 0;

  private constructor(handle: FileHandle, keys: KeyIndex, size: number, unlock: () => Promise<void>) {
    this.#handle = handle;
    this.#keys = keys;
    this.#size = size;
    this.#unlock = unlock;
  }

  /**
   * Opens the file and removes an incomplete last line, which a killed process may have left.
   * @throws Error if another process uses the file, or if it contains anything but results
   */
  static async open(file: string): Promise<OutputFile> {
    const handle = await open(file, "a+");
    let unlock = async () => {};
    try {
      unlock = await lockFile(await realpath(file), "the output", "give --output another name");
      const keys = new KeyIndex();
      let size = 0;
      for await (const { text, end } of wholeLines(file)) {
        keys.set(keyIn(text, file), 0);
        size = end;
      }
      size = await endLastLine(handle, file, keys, size);
      return new OutputFile(handle, keys, size, unlock);
    } catch (error) {
      await unlock();
      await handle.close();
      throw error;
    }
  }

  /** `true` if the added lines should be written now. */
  get isFull(): boolean {
    return this.#kept > MOST_KEPT;
  }

  has(key: string): boolean {
    return this.#keys.get(key) !== undefined;
  }

  /** Adds a line unless the file already contains one with this key. */
  add(key: string, line: string): void {
    if (this.has(key)) return;
    this.#keys.set(key, 0);
    this.#lines.push(`${line}\n`);
    this.#kept += line.length;
  }

  /** Writes the added lines. Once the promise resolves, they survive a crash of the machine. */
  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const bytes = Buffer.from(this.#lines.join(""));
    this.#lines = [];
    this.#kept = 0;
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
    await this.#unlock();
  }
}

/** What each line begins with. */
const BEGINNING = '{"key":"';

/**
 * Ends a last line that has no line break: a whole result gets one, and the beginning of a result
 * is removed. Returns the size of the file.
 */
async function endLastLine(handle: FileHandle, file: string, keys: KeyIndex, size: number): Promise<number> {
  const left = (await handle.stat()).size - size;
  if (left === 0) return size;
  const { buffer } = await handle.read(Buffer.alloc(left), 0, left, size);
  const text = buffer.toString();
  const key = resultKey(text);
  if (key !== undefined) {
    keys.set(key, 0);
    await handle.appendFile("\n");
    return size + left + 1;
  }
  // After a power failure, some file systems show zeros where a line was being written.
  if (!text.startsWith(BEGINNING.slice(0, left)) && !text.startsWith("\0")) throw notResults(file);
  await handle.truncate(size);
  return size;
}

function keyIn(line: string, file: string): string {
  const key = resultKey(line);
  if (key === undefined) throw notResults(file);
  return key;
}

/** Returns the key of a result; `undefined` if the line is not a whole result. */
function resultKey(line: string): string | undefined {
  try {
    const { key, jobId } = JSON.parse(line) as { key?: unknown; jobId?: unknown };
    return typeof key === "string" && typeof jobId === "string" ? key : undefined;
  } catch {
    return undefined;
  }
}

function notResults(file: string): Error {
  return new Error(
    `${file} has a line that is not a result of a batch. Nothing was changed: give --output another name`,
  );
}
