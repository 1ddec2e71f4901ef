import { createReadStream } from "node:fs";

export const NEWLINE = 10;

/** A line of a file. */
interface FileLine {
  readonly text: string;
  /** The position of the line and of the line after it, in bytes. */
  readonly place: number;
  readonly end: number;
}

/**
 * Yields the lines of a file that end with a newline. A last line that a killed process did not
 * complete is left out. Yields nothing if the file does not exist.
 */
export async function* wholeLines(file: string): AsyncGenerator<FileLine> {
  /** The beginning of a line. Its parts are joined once, because lines can have 15 MB. */
  let parts: Buffer[] = [];
  let place = 0;
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        const line = Buffer.concat([...parts, chunk.subarray(from, end)]);
        yield { text: line.toString(), place, end: place + line.length + 1 };
        place += line.length + 1;
        from = end + 1;
        parts = [];
      }
      parts.push(chunk.subarray(from));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
