import { isTooDeep, MAX_DEPTH, TOO_DEEP } from "./depth";

/** Values nested more deeply than this are copied by `JSON`, which rejects cycles. */
const COPIED_DEPTH = 50;
/** Copying this many values takes about a tenth of a second on a busy machine. */
const LARGE_VALUES = 50_000;

/** The number of values copied so far. */
let copiedValues = 0;

/**
 * Returns a deep copy that contains only JSON values. `undefined` becomes `null`.
 * @throws TypeError for a cycle, a BigInt or too many levels
 */
export function jsonCopy(value: unknown): unknown {
  return copy(value, 0) ?? null;
}

/**
 * Copies like `jsonCopy`, and tells whether the copy took long, so that the caller can yield to
 * other requests.
 */
export function sizedCopy(value: unknown): { readonly value: unknown; readonly isLarge: boolean } {
  const before = copiedValues;
  const copied = jsonCopy(value);
  return { value: copied, isLarge: copiedValues - before > LARGE_VALUES };
}

/** Copies plain values without `JSON`, which takes four times as long. */
function copy(value: unknown, depth: number): unknown {
  copiedValues += 1;
  if (value === null || value === undefined || typeof value === "boolean" || typeof value === "string") return value;
  // JSON has no -0.
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : null;
  if (typeof value !== "object" || depth > COPIED_DEPTH || !isPlain(value)) return throughJson(value, depth);
  if (Array.isArray(value)) return Array.from(value, (element) => copy(element, depth + 1) ?? null);
  const copied: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const element = copy((value as Record<string, unknown>)[key], depth + 1);
    if (element !== undefined) copied[key] = element;
  }
  return copied;
}

/** Returns `true` for an array or object that `JSON` writes element by element. */
function isPlain(value: object): boolean {
  if ("toJSON" in value || Object.hasOwn(value, "__proto__")) return false;
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function throughJson(value: unknown, depth: number): unknown {
  const text = jsonText(value);
  if (text === undefined) return undefined;
  if (isTooDeep(Buffer.from(text), MAX_DEPTH - depth)) throw new TypeError(`the value ${TOO_DEEP}`);
  return JSON.parse(text);
}

function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    const isStackFull = error instanceof RangeError && error.message.includes("call stack");
    throw isStackFull ? new TypeError(`the value ${TOO_DEEP}`, { cause: error }) : error;
  }
}
