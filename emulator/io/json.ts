/** Deeper values are left to `JSON`, which refuses cycles. */
const MAX_DEPTH = 50;

/**
 * Returns a deep copy with only what JSON can hold. `undefined` becomes `null`.
 * @throws TypeError for a cycle or a BigInt
 */
export function jsonCopy(value: unknown): unknown {
  return copy(value, 0) ?? null;
}

/** Copies plain values itself, because `JSON` takes four times as long. */
function copy(value: unknown, depth: number): unknown {
  if (value === null || value === undefined || typeof value === "boolean" || typeof value === "string") return value;
  // JSON has no -0.
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : null;
  if (typeof value !== "object" || depth > MAX_DEPTH || !isPlain(value)) return throughJson(value);
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

function throughJson(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}
