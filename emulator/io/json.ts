/** A deep copy as JSON sees it. Throws for what JSON cannot hold (a cycle, a BigInt). `undefined` becomes `null`. */
export function jsonCopy(value: unknown): unknown {
  if (value === undefined) return null;
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  return JSON.parse(JSON.stringify(value) ?? "null");
}
