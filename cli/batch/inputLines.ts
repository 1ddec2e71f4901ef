import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { checkedKey } from "../../sdk/journal/itemKey";

/** The input on a line of the input file. */
interface InputLine {
  readonly given: object;
  /** The number of the line in the file. The first line is 1, and empty lines count. */
  readonly number: number;
}

/** Yields the JSON object on each line of a file, skipping empty lines. */
export async function* inputLines(file: string): AsyncGenerator<InputLine, void, undefined> {
  let number = 0;
  for await (const line of linesOf(file)) {
    number++;
    if (line !== "") yield { given: objectOf(line, `${file}, line ${number}`), number };
  }
}

/** Yields lines without the spaces around them. A byte order mark counts as a space. */
async function* linesOf(file: string): AsyncGenerator<string, void, undefined> {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) yield line.trim();
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
  let isText = false;
  // A regular expression for a whole string would overflow the stack, because the string can be 10
  // MB long.
  for (const [token] of json.matchAll(/"|\\.|-?\d[\d.eE+-]*/g)) {
    if (token === '"') isText = !isText;
    else if (!isText && /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))) return token;
  }
  return undefined;
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
  for await (const line of linesOf(file)) {
    if (line !== "") count++;
  }
  return count;
}
