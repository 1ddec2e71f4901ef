import { type FileHandle, open } from "node:fs/promises";
import { wholeLines } from "../../sdk/journal/fileLines";
import { KeyIndex } from "../../sdk/journal/keyIndex";

/** An output file with one line per key. */
export class OutputFile {
  readonly #handle: FileHandle;
  readonly #keys: KeyIndex;
  #size: number;
  #lines: string[] = [];

  private constructor(handle: FileHandle, keys: KeyIndex, size: number) {
    this.#handle = handle;
    this.#keys = keys;
    this.#size = size;
  }

  /** Opens the file and removes an incomplete last line, which a killed process may have left. */
  static async open(file: string): Promise<OutputFile> {
    const handle = await open(file, "a+");
    const keys = new KeyIndex();
    let size = 0;
    for await (const { text, end } of wholeLines(file)) {
      keys.set(keyIn(text, file), 0);
      size = end;
    }
    await handle.truncate(size);
    return new OutputFile(handle, keys, size);
  }

  has(key: string): boolean {
    return this.#keys.get(key) !== undefined;
  }

  /** Adds a line unless the file already contains one with this key. */
  add(key: string, line: string): void {
    if (this.has(key)) return;
    this.#keys.set(key, 0);
    this.#lines.push(`${line}\n`);
  }

  /** Writes the added lines. Once the promise resolves, they survive a crash of the machine. */
  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const bytes = Buffer.from(this.#lines.join(""));
    this.#lines = [];
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
  }
}

function keyIn(line: string, file: string): string {
  try {
    const { key } = JSON.parse(line) as { key?: unknown };
    if (typeof key === "string") return key;
  } catch {
    // The file does not contain results of this command.
  }
  throw new Error(
    `${file} has a line that is not a result of a batch. Nothing was changed: give --output another name`,
  );
}
