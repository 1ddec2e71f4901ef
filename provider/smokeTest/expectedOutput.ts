import { isDeepStrictEqual } from "node:util";
import { CodedError } from "../../sdk/errors/errors";
import { hideJobSecret, redactBeginning } from "../../sdk/errors/secretText";
import { secretFields } from "../engine/forEngine";
import type { Properties } from "../engine/properties";

const SHORTEST_HIDDEN_STRING = 8;
const LONGEST_SHOWN = 300;

/** The first difference between the actual and the expected output. */
interface Mismatch {
  /** The field names that lead to the difference, outermost first. */
  readonly path: readonly string[];
  readonly actual: unknown;
  readonly expected: unknown;
}

/**
 * Throws an error if a job's output is not as expected. The error shows both the actual and the
 * expected value, without the job's secrets.
 * @param job the words for the job in the error
 */
export function assertExpected(job: string, output: unknown, inputs: Properties): void {
  const { expectedOutput } = inputs;
  const mismatch = expectedOutput === undefined ? undefined : findMismatch(output, expectedOutput, []);
  if (!mismatch) return;
  const place = ["output", ...mismatch.path].join(".");
  const values = isSecret(mismatch.path, inputs)
    ? "The expected value is secret, so neither is shown"
    : `expected: ${shown(mismatch.expected)}\n  actual:   ${shown(mismatch.actual)}`;
  throw new CodedError(
    "SMOKE_TEST",
    `${job} completed, but its ${place} is not as expected. Check the template and expectedOutput.\n  ${values}`,
  );
}

/**
 * Hides the strings of the input in errors that may repeat them, because some may be secret. Short
 * strings are not hidden, because that would make errors unreadable. A string that also appears in
 * an expected output that is not secret is not hidden either.
 */
export function hideInput(inputs: Properties): void {
  const isAnySecret = secretFields(inputs).length > 0;
  const open = new Set(isAnySecret ? [] : stringsIn([inputs.expectedOutput, inputs.expectedBody]));
  for (const text of [...stringsIn(inputs.input), ...stringsIn(inputs.body)])
    if (text.length >= SHORTEST_HIDDEN_STRING && !open.has(text)) hideJobSecret(text);
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function isSecret([first]: readonly string[], inputs: Properties): boolean {
  const secrets = secretFields(inputs);
  if (first === undefined) return secrets.length > 0;
  return secrets.includes("expectedOutput") || secrets.includes(`expectedOutput.${first}`);
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = redactBeginning(JSON.stringify(value), LONGEST_SHOWN);
  return text.includes("[redacted]") ? `${text} (strings of the input are not shown: they may be secret)` : text;
}

/** Finds the first difference. The output may have additional fields. */
function findMismatch(actual: unknown, expected: unknown, path: readonly string[]): Mismatch | undefined {
  if (typeof expected !== "object" || expected === null || Array.isArray(expected)) {
    return isDeepStrictEqual(actual, expected) ? undefined : { path, actual, expected };
  }
  if (typeof actual !== "object" || actual === null) return { path, actual, expected };
  const found: Properties = { ...actual };
  for (const [key, value] of Object.entries(expected)) {
    const mismatch = findMismatch(found[key], value, [...path, key]);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}
