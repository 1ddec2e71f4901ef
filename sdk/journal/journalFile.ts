import { type FileHandle, open, rename, stat, unlink } from "node:fs/promises";
import path from "node:path";
import { ServerlessGpuError } from "../errors/errors";
import { NEWLINE, wholeLines } from "./fileLines";
import { JOURNAL_STATES, type JournalBatch, type JournalEntry } from "./journal";
import { cannotOpen, JournalDamagedError, JournalRefusedError } from "./journalErrors";
import { KeyIndex } from "./keyIndex";

/** The first line of the file. */
interface FileHeader extends JournalBatch {
  readonly serverlessGpuJournal: number;
}

/** The version of the format. Other versions are refused. */
export const FILE_FORMAT = 1;

/** A line with the outcome of a job, as JSON. */
export interface StoredResult {
  readonly result: string;
  readonly key: string;
}

/** Files with fewer lines than this are not compacted. */
const SMALLEST_COMPACTION = 1_000;

/** About how many characters are written at once during a compaction. */
const LARGEST_WRITE = 2 ** 20;

/** Lines that are waiting to be written. */
interface Waiting {
  readonly lines: readonly (JournalEntry | StoredResult)[];
  readonly isSynced: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A file with one line per change, and an index with the position of each key's last line. */
export class JournalFile {
  readonly header: FileHeader;
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #index: KeyIndex;
  /** The positions of the results. */
  readonly #results: KeyIndex;
  /** The entries that may still change. */
  readonly #open: Map<string, JournalEntry>;
  /** The position after the last complete line. */
  #size: number;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #isDirty = false;

  /** Called before each write. */
  readonly #check: () => Promise<void>;

  private constructor(
    file: string,
    handle: FileHandle,
    read: Read & { readonly header: FileHeader },
    check: () => Promise<void>,
  ) {
    this.#file = file;
    const { header, index, results, open, size } = read;
    this.#check = check;
    this.header = header;
    this.#handle = handle;
    this.#index = index;
    this.#results = results;
    this.#open = open;
    this.#size = size;
  }

  /**
   * Opens a file, or creates it with this header.
   * @param use if another process may still have the file open (`isTakenOver`), the file is
   * replaced with a copy, so that the other one writes to the old file
   */
  static async open(file: string, header: FileHeader, use: FileUse): Promise<JournalFile> {
    const { isTakenOver, check } = use;
    try {
      let read = await readLines(file);
      if (!read.header) return await create(file, header);
      if (isTakenOver) await compact(file, read);
      else if (isWorthCompacting(read)) await compact(file, read).catch(() => {});
      // If the disk is full, the file stays as it was.
      if (isTakenOver || isWorthCompacting(read)) read = await readLines(file);
      const handle = await open(file, "r+");
      await handle.truncate(read.size);
      return new JournalFile(file, handle, { ...read, header: read.header ?? header }, check);
    } catch (cause) {
      if (cause instanceof ServerlessGpuError) throw cause;
      throw cannotOpen(file, cause);
    }

    async function create(place: string, first: FileHeader): Promise<JournalFile> {
      const line = Buffer.from(`${JSON.stringify(first)}\n`);
      await replace(place, async (handle) => {
        await handle.writeFile(line);
      });
      const read = { ...nothing(), header: first, size: line.length };
      return new JournalFile(place, await open(place, "r+"), read, check);
    }
  }

  /** The entries that may still change. */
  get open(): JournalEntry[] {
    return [...this.#open.values()];
  }

  /** Returns what is known about a key. */
  async get(key: string): Promise<JournalEntry | undefined> {
    const entry = this.#open.get(key);
    if (entry) return entry;
    const place = this.#index.get(key);
    return place === undefined ? undefined : ((await this.#read(place)) as JournalEntry);
  }

  /** Returns the entries that have one of these jobs. Reads the whole file. */
  async withJobs(jobIds: ReadonlySet<string>): Promise<JournalEntry[]> {
    const found: JournalEntry[] = [];
    for await (const { text, place } of wholeLines(this.#file)) {
      const line = parsed(text);
      const isEntry = place > 0 && isLine(line) && !("result" in line) && this.#index.get(line.key) === place;
      if (isEntry && jobIds.has(line.jobId ?? "")) found.push(line);
    }
    return found;
  }

  /** Returns the outcome of a key's job. */
  async result(key: string): Promise<string | undefined> {
    const place = this.#results.get(key);
    return place === undefined ? undefined : ((await this.#read(place)) as StoredResult).result;
  }

  /**
   * Appends lines. Lines that are appended at the same time are written together.
   * @param isSynced `true` if the lines must survive a crash of the machine, not only of the
   * process
   */
  async append(lines: readonly (JournalEntry | StoredResult)[], isSynced: boolean): Promise<void> {
    if (lines.length === 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ lines, isSynced, resolve, reject });
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
    await this.#check();
    // Remove what is left of a failed write, because it would look like corruption.
    if (this.#isDirty) await this.#handle.truncate(this.#size);
    const values = group.flatMap((each) => each.lines);
    const lines = values.map((value) => Buffer.from(`${JSON.stringify(value)}\n`));
    this.#isDirty = true;
    let at = this.#size;
    for (let bytes = Buffer.concat(lines); bytes.length > 0; ) {
      const { bytesWritten } = await this.#handle.write(bytes, 0, bytes.length, at);
      at += bytesWritten;
      bytes = bytes.subarray(bytesWritten);
    }
    if (group.some(({ isSynced }) => isSynced)) await this.#handle.datasync();
    this.#isDirty = false;
    values.forEach((value, n) => {
      note({ index: this.#index, results: this.#results, open: this.#open }, value, this.#size);
      this.#size += lines[n]?.length ?? 0;
    });
  }

  async #read(place: number): Promise<unknown> {
    for (let length = 4_096; ; length *= 8) {
      const { buffer, bytesRead } = await this.#handle.read(Buffer.alloc(length), 0, length, place);
      const end = buffer.subarray(0, bytesRead).indexOf(NEWLINE);
      if (end >= 0) return JSON.parse(buffer.toString("utf8", 0, end));
      if (bytesRead < length) throw new Error("the journal is shorter than it was");
    }
  }
}

/** How a file is used. */
interface FileUse {
  readonly isTakenOver: boolean;
  readonly check: () => Promise<void>;
}

/** The contents of a file. */
interface Read {
  readonly header?: FileHeader | undefined;
  readonly index: KeyIndex;
  readonly results: KeyIndex;
  readonly open: Map<string, JournalEntry>;
  readonly size: number;
  /** The number of lines after the header. */
  readonly lines: number;
}

function nothing(): Read {
  return { index: new KeyIndex(), results: new KeyIndex(), open: new Map(), size: 0, lines: 0 };
}

type Positions = Pick<Read, "index" | "results" | "open">;

function note({ index, results, open }: Positions, line: JournalEntry | StoredResult, place: number): void {
  if ("result" in line) {
    results.set(line.key, place);
    return;
  }
  index.set(line.key, place);
  if (line.state === "delivered" || line.state === "failed") open.delete(line.key);
  else open.set(line.key, line);
}

async function readLines(file: string): Promise<Read> {
  const read = nothing();
  let header: FileHeader | undefined;
  let size = 0;
  let lines = 0;
  let torn: number | undefined;
  for await (const { text, place, end } of wholeLines(file)) {
    if (torn !== undefined) throw damaged(file, torn);
    const value = parsed(text);
    if (value === undefined) torn = place;
    else if (place === 0 && isHeader(value)) header = known(value, file);
    else if (!header || !isLine(value)) throw damaged(file, place);
    else {
      lines++;
      note(read, value, place);
    }
    if (torn === undefined) size = end;
  }
  // A journal is always created together with its first line, so this file is not a journal.
  if (!header && (await sizeOf(file)) > 0) throw damaged(file, 0);
  return { ...read, header, size, lines };
}

function known(header: FileHeader, file: string): FileHeader {
  if (header.serverlessGpuJournal === FILE_FORMAT) return header;
  throw new JournalRefusedError(
    `the journal ${file} has the format ${header.serverlessGpuJournal}, and this version of the package reads only format ` +
      `${FILE_FORMAT}. Nothing was changed. Run the batch with the version of the package that created the journal`,
  );
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

function isLine(value: unknown): value is JournalEntry | StoredResult {
  if (typeof value !== "object" || value === null || !("key" in value)) return false;
  return "result" in value || ("state" in value && "owner" in value && JOURNAL_STATES.includes(value.state as never));
}

function isWorthCompacting({ lines, index, results }: Read): boolean {
  return lines >= SMALLEST_COMPACTION && lines > 2 * (index.size + results.size);
}

/** Writes the last lines of each key to a new file that replaces the old one. */
async function compact(file: string, { header, index, results }: Read): Promise<void> {
  await replace(file, async (handle) => {
    let lines = [`${JSON.stringify(header)}\n`];
    let length = 0;
    for await (const { text, place } of wholeLines(file)) {
      const value = place === 0 ? undefined : parsed(text);
      if (!isLine(value) || ("result" in value ? results : index).get(value.key) !== place) continue;
      lines.push(`${text}\n`);
      length += text.length;
      if (length < LARGEST_WRITE) continue;
      await handle.writeFile(lines.join(""));
      lines = [];
      length = 0;
    }
    await handle.writeFile(lines.join(""));
  });
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
