import { isTooDeep, TOO_DEEP } from "./depth";

/**
 * Returns a deep copy that contains only JSON values. `undefined` becomes `null`.
 * @throws TypeError for a cycle, a BigInt or too many levels
 */
export function jsonCopy(value: unknown): unknown {
  const text = jsonText(value);
  if (text === undefined) return null;
  if (isTooDeep(Buffer.from(text))) throw new TypeError(`the value ${TOO_DEEP}`);
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
