import { closeSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { systemReason } from "../../../emulator/io/systemReason";

const CHUNK_BYTES = 1 << 20;
const LONGEST_LINE = 10_000_000;

/** Reads a file line by line, in chunks. Removes line endings and a byte order mark. */
export function* linesOf(file: string): Generator<string> {
  const handle = open(file);
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const decoder = new StringDecoder("utf8");
    let rest = "";
    let isFirst = true;
    const shown = (line: string) => {
      const withoutEnd = line.endsWith("\r") ? line.slice(0, -1) : line;
      const mark = isFirst && withoutEnd.startsWith("\uFEFF") ? 1 : 0;
      isFirst = false;
      return withoutEnd.slice(mark);
    };
    for (;;) {
      const length = read(handle, chunk, file);
      const text = rest + (length === 0 ? decoder.end() : decoder.write(chunk.subarray(0, length)));
      let start = 0;
      for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
        yield shown(text.slice(start, end));
        start = end + 1;
      }
      rest = text.slice(start);
      if (rest.length > LONGEST_LINE) throw new Error(`${file} has a line of more than ${LONGEST_LINE} characters`);
      if (length > 0) continue;
      if (rest !== "") yield shown(rest);
      return;
    }
  } finally {
    closeSync(handle);
  }
}

function open(file: string): number {
  try {
    return openSync(file, "r");
  } catch (cause) {
    throw new Error(`${file} cannot be read: ${systemReason(cause)}`, { cause });
  }
}

function read(handle: number, chunk: Buffer, file: string): number {
  try {
    return readSync(handle, chunk);
  } catch (cause) {
    throw new Error(`${file} cannot be read: ${systemReason(cause)}`, { cause });
  }
}
