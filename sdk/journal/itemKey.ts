import { createHash } from "node:crypto";
import { InvalidInputError } from "../errors/errors";

/** The maximum length of a key, in characters. */
const LONGEST_KEY = 500;

/** Characters that a database cannot store. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/** Returns the default key of an input: the SHA-256 of its canonical JSON, in hexadecimal. */
export function hashOfInput(input: object): string {
  return createHash("sha256").update(canonicalJson(input)).digest("hex");
}

/** Returns a value as JSON with sorted object keys, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  // This is the value that the service would receive: `toJSON` was applied, and fields that can't
  // be written as JSON were left out.
  const json = JSON.stringify(value);
  return json === undefined ? "null" : JSON.stringify(JSON.parse(json, inOrder));
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // Only an object with a null prototype can have a key named __proto__.
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

/**
 * Checks a key.
 * @throws InvalidInputError
 */
export function checkedKey(key: unknown): string {
  if (typeof key === "string" && key !== "" && key.length <= LONGEST_KEY && !UNSTORABLE.test(key)) return key;
  const message = `must return a string of 1 to ${LONGEST_KEY} characters for each input, without NUL`;
  throw new InvalidInputError("the batch", [{ property: "key", message }]);
}
