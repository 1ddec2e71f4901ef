/**
 * Returns a deep copy with only what JSON can hold. `undefined` becomes `null`.
 * @throws TypeError for a cycle or a BigInt
 */
export function jsonCopy(value: unknown): unknown {
  if (value === undefined) return null;
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  return JSON.parse(JSON.stringify(value) ?? "null");
}
