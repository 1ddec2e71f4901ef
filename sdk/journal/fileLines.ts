import { createReadStream } from "node:fs";

export const NEWLINE = 10;

/** A line of a file. */
export interface FileLine {
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
  let rest = Buffer.alloc(0);
  let place = 0;
  try {
    for await (const chunk of createReadStream(file)) {
      rest = Buffer.concat([rest, chunk as Buffer]);
      let from = 0;
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, from)) {
        yield { text: rest.toString("utf8", from, end), place: place + from, end: place + end + 1 };
        from = end + 1;
      }
      place += from;
      rest = rest.subarray(from);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
