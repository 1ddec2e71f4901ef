import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { checkedKey } from "../../sdk/journal/itemKey";

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
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`${place} is not a JSON object. Each line is the input of a job, such as {"prompt": "Hi"}`);
  }
  const inexact = inexactInteger(line);
  if (inexact === undefined) return value;
  throw new Error(
    `${place} contains ${inexact}, which JavaScript would send as ${Number(inexact)}. Write it as a string`,
  );
}

/** Returns an integer that a JavaScript number cannot represent, if the JSON contains one. */
function inexactInteger(json: string): string | undefined {
  if (!/\d{16}/.test(json)) return undefined;
  const numbers = json.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? [];
  return numbers.find((text) => /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text)));
}

/**
 * Returns the key of an input.
 * @throws InvalidInputError
 */
export function keyIn(given: object, field = ""): string {
  const value = (given as Record<string, unknown>)[field];
  return checkedKey(typeof value === "number" ? String(value) : value);
}

/** Counts the non-empty lines of a file. */
export async function countLines(file: string): Promise<number> {
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== "") count++;
  }
  return count;
}
