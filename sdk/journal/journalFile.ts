import { type FileHandle, open, rename, stat, unlink } from "node:fs/promises";
import path from "node:path";
import { NEWLINE, wholeLines } from "./fileLines";
import type { JournalBatch, JournalEntry } from "./journal";
import { cannotOpen, JournalDamagedError } from "./journalErrors";
import { KeyIndex } from "./keyIndex";

/** The first line of the file. */
export interface FileHeader extends JournalBatch {
  readonly serverlessGpuJournal: 1;
}

/** Files with fewer lines than this are not compacted. */
const SMALLEST_COMPACTION = 1_000;

/** Lines that are waiting to be written. */
interface Waiting {
  readonly entries: readonly JournalEntry[];
  readonly isSynced: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A file with one line per change, and an index with the position of each key's last line. */
export class JournalFile {
  readonly header: FileHeader;
  readonly #handle: FileHandle;
  readonly #index: KeyIndex;
  /** The entries that may still change. */
  readonly #open: Map<string, JournalEntry>;
  /** The position after the last complete line. */
  #size: number;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #isDirty = false;

  private constructor(handle: FileHandle, { header, index, open, size }: Read & { readonly header: FileHeader }) {
    this.header = header;
    this.#handle = handle;
    this.#index = index;
    this.#open = open;
    this.#size = size;
  }

  /** Opens a file, or creates it with this header. */
  static async open(file: string, header: FileHeader): Promise<JournalFile> {
    try {
      let read = await readLines(file);
      if (!read.header) return await create(file, header);
      if (isWorthCompacting(read) && (await compact(file, read))) read = await readLines(file);
      const handle = await open(file, "r+");
      await handle.truncate(read.size);
      return new JournalFile(handle, { ...read, header: read.header ?? header });
    } catch (cause) {
      if (cause instanceof JournalDamagedError) throw cause;
      throw cannotOpen(file, cause);
    }

    async function create(place: string, first: FileHeader): Promise<JournalFile> {
      const line = Buffer.from(`${JSON.stringify(first)}\n`);
      await replace(place, async (handle) => {
        await handle.writeFile(line);
      });
      const read = { header: first, index: new KeyIndex(), open: new Map(), size: line.length, lines: 0 };
      return new JournalFile(await open(place, "r+"), read);
    }
  }

  /** Returns what is known about a key. */
  async get(key: string): Promise<JournalEntry | undefined> {
    const entry = this.#open.get(key);
    if (entry) return entry;
    const place = this.#index.get(key);
    return place === undefined ? undefined : await this.#read(place);
  }

  /**
   * Appends entries. Entries that are appended at the same time are written together.
   * @param isSynced `true` if the lines must survive a crash of the machine, not only of the
   * process
   */
  async append(entries: readonly JournalEntry[], isSynced: boolean): Promise<void> {
    if (entries.length === 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ entries, isSynced, resolve, reject });
      this.#writing ??= this.#writeAll().finally(() => {
        this.#writing = undefined;
      });
    });
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle.close();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(group);
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    // Remove what is left of a failed write, because it would look like damage.
    if (this.#isDirty) await this.#handle.truncate(this.#size);
    const entries = group.flatMap((each) => each.entries);
    const lines = entries.map((entry) => Buffer.from(`${JSON.stringify(entry)}\n`));
    this.#isDirty = true;
    let at = this.#size;
    for (let bytes = Buffer.concat(lines); bytes.length > 0; ) {
      const { bytesWritten } = await this.#handle.write(bytes, 0, bytes.length, at);
      at += bytesWritten;
      bytes = bytes.subarray(bytesWritten);
    }
    if (group.some(({ isSynced }) => isSynced)) await this.#handle.datasync();
    this.#isDirty = false;
    entries.forEach((entry, n) => {
      this.#index.set(entry.key, this.#size);
      this.#size += lines[n]?.length ?? 0;
      keep(this.#open, entry);
    });
  }

  async #read(place: number): Promise<JournalEntry> {
    for (let length = 4_096; ; length *= 8) {
      const { buffer, bytesRead } = await this.#handle.read(Buffer.alloc(length), 0, length, place);
      const end = buffer.subarray(0, bytesRead).indexOf(NEWLINE);
      if (end >= 0) return JSON.parse(buffer.toString("utf8", 0, end)) as JournalEntry;
      if (bytesRead < length) throw new Error("the journal is shorter than it was");
    }
  }
}

/** The contents of a file. */
interface Read {
  readonly header?: FileHeader | undefined;
  readonly index: KeyIndex;
  readonly open: Map<string, JournalEntry>;
  readonly size: number;
  /** The number of lines after the header. */
  readonly lines: number;
}

function keep(open: Map<string, JournalEntry>, entry: JournalEntry): void {
  if (entry.state === "delivered") open.delete(entry.key);
  else open.set(entry.key, entry);
}

async function readLines(file: string): Promise<Read> {
  const index = new KeyIndex();
  const open = new Map<string, JournalEntry>();
  let header: FileHeader | undefined;
  let size = 0;
  let lines = 0;
  let torn: number | undefined;
  for await (const { text, place, end } of wholeLines(file)) {
    if (torn !== undefined) throw damaged(file, torn);
    const value = parsed(text);
    if (value === undefined) torn = place;
    else if (place === 0 && isHeader(value)) header = value;
    else if (!header || !isEntry(value)) throw damaged(file, place);
    else {
      lines++;
      index.set(value.key, place);
      keep(open, value);
    }
    if (torn === undefined) size = end;
  }
  // A journal is always created together with its first line, so this file is not a journal.
  if (!header && (await sizeOf(file)) > 0) throw damaged(file, 0);
  return { header, index, open, size, lines };
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

function damaged(file: string, place: number): JournalDamagedError {
  return new JournalDamagedError(
    `the file ${file} is not a journal, or is damaged at byte ${place}. Nothing was changed. Name another file, or restore it ` +
      "from a copy: without its lines, jobs that were submitted would be submitted again",
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): value is FileHeader {
  return typeof value === "object" && value !== null && "serverlessGpuJournal" in value;
}

function isEntry(value: unknown): value is JournalEntry {
  return typeof value === "object" && value !== null && "key" in value && "state" in value && "owner" in value;
}

function isWorthCompacting({ lines, index }: Read): boolean {
  return lines >= SMALLEST_COMPACTION && lines > 2 * index.size;
}

/**
 * Writes the last line of each key to a new file that replaces the old one. Returns `false` if that
 * fails, for example because the disk is full. In that case, the old file can still be used.
 */
async function compact(file: string, { header, index }: Read): Promise<boolean> {
  const replaced = replace(file, async (handle) => {
    let lines = [`${JSON.stringify(header)}\n`];
    for await (const { text, place } of wholeLines(file)) {
      const value = place === 0 ? undefined : parsed(text);
      if (isEntry(value) && index.get(value.key) === place) lines.push(`${text}\n`);
      if (lines.length < SMALLEST_COMPACTION) continue;
      await handle.writeFile(lines.join(""));
      lines = [];
    }
    await handle.writeFile(lines.join(""));
  });
  return replaced.then(
    () => true,
    () => false,
  );
}

/** Creates a new file that replaces the old one, either completely or not at all. */
async function replace(file: string, write: (handle: FileHandle) => Promise<void>): Promise<void> {
  const next = `${file}.new`;
  await unlink(next).catch(() => {});
  const handle = await open(next, "wx", 0o600);
  try {
    await write(handle);
    await handle.sync();
    await rename(next, file);
  } catch (error) {
    await unlink(next).catch(() => {});
    throw error;
  } finally {
    await handle.close();
  }
  const folder = await open(path.dirname(file), "r").catch(() => undefined);
  // Some systems can't sync a folder.
  await folder?.sync().catch(() => {});
  await folder?.close();
}
