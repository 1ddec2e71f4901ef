import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** The input on a line of the input file. */
export interface InputLine {
  readonly given: object;
  /** The number of the line in the file. The first line is 1, and empty lines count. */
  readonly number: number;
}

/** Yields the JSON object on each line of a file, skipping empty lines. */
export async function* inputLines(file: string): AsyncGenerator<InputLine, void, undefined> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (line.trim() !== "") yield { given: objectOf(line, `${file}, line ${number}`), number };
  }
}

function objectOf(line: string, place: string): object {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new Error(`${place} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error(`${place} is not a JSON object. Each line is the input of a job, such as {"prompt": "Hi"}`);
}

/** Counts the non-empty lines of a file. */
export async function countLines(file: string): Promise<number> {
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== "") count++;
  }
  return count;
}
