import { createHash } from "node:crypto";
import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import path from "node:path";

/** The version of the format. Readers reject lines that have another version. */
const RECORDING_VERSION = 1;

/** The writer of a line: the exporter, a client, or a webhook receiver. */
export type Recorder = "metrics" | "client" | "webhook";

/** A line of a recording, as JSON. */
export type RecordedLine = Readonly<Record<string, unknown>> & {
  readonly kind: "columns" | "interval" | "job";
  readonly by: Recorder;
};

/** A folder with one file per day. Any number of processes can append to the files. */
export interface Recording {
  /**
   * Opens the file of the day and writes the line that names the columns.
   * @throws the system's error
   */
  begin(at: number): void;
  /**
   * Appends a line to the file of the line's day.
   * @param at in milliseconds since the epoch
   * @throws the system's error, such as the error for a full disk
   */
  append(line: RecordedLine, at: number): void;
  close(): void;
}

/**
 * The columns that a recorder measures, and for each other column the reason why it is not
 * measured.
 */
interface Columns {
  readonly measured: readonly string[];
  readonly notMeasured: Readonly<Record<string, string>>;
}

/**
 * Opens a folder for a recorder, and creates the folder if it does not exist. Nothing is written
 * yet.
 * @throws the system's error if the folder cannot be created
 */
export function openRecording(folder: string, by: Recorder, columns: Columns): Recording {
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  let open: { readonly day: string; readonly handle: number } | undefined;

  function handleOf(at: number): number {
    const day = new Date(at).toISOString().slice(0, 10);
    if (open?.day === day) return open.handle;
    close();
    // In append mode, the system adds each line at the end of the file, after the lines that other
    // processes have written.
    const handle = openSync(path.join(folder, `${day}.jsonl`), "a+", 0o640);
    open = { day, handle };
    write(handle, { kind: "columns", by, at: new Date(at).toISOString(), ...columns });
    return handle;
  }

  function close(): void {
    if (open) closeSync(open.handle);
    open = undefined;
  }

  return {
    begin: (at) => void handleOf(at),
    append: (line, at) => write(handleOf(at), line),
    close,
  };
}

function write(handle: number, line: RecordedLine): void {
  // If a killed process or a full disk cut off the last line, that must not corrupt this line as
  // well.
  const text = `${endsInLine(handle) ? "" : "\n"}${recordingLine(line)}\n`;
  const bytes = Buffer.from(text);
  const written = writeSync(handle, bytes);
  if (written < bytes.length) throw Object.assign(new Error("only a part of the line was written"), { code: "ENOSPC" });
}

function endsInLine(handle: number): boolean {
  const { size } = fstatSync(handle);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(handle, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}

/** Returns a line with its checksum, without the line ending. */
export function recordingLine(line: RecordedLine): string {
  const body = JSON.stringify({ v: RECORDING_VERSION, ...line }).slice(0, -1);
  return `${body},"sum":"${checksum(body)}"}`;
}

const END = /,"sum":"([0-9a-f]{16})"\}$/;

/**
 * Parses a line. Returns `undefined` if the line is damaged.
 * @throws Error if a newer version of this package wrote the line
 */
export function readLine(text: string): RecordedLine | undefined {
  const [end, sum] = END.exec(text) ?? [];
  if (end === undefined) return undefined;
  const body = text.slice(0, -end.length);
  if (checksum(body) !== sum) return undefined;
  const { v, ...line } = JSON.parse(`${body}}`) as RecordedLine & { readonly v: unknown };
  if (v === RECORDING_VERSION) return line as RecordedLine;
  throw new Error(
    `the recording has version ${String(v)}, and this package reads ${RECORDING_VERSION}: update the package`,
  );
}

function checksum(body: string): string {
  return createHash("sha256").update(body).digest("hex").slice(0, 16);
}
