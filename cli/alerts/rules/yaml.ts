/** Data that can be written as YAML. */
export type Data = string | number | readonly Data[] | { readonly [key: string]: Data | undefined };

/**
 * Returns data as YAML. Strings are double-quoted, so that none of them is read as another type.
 */
export function toYaml(data: Data, indent = ""): string {
  if (typeof data !== "object") return `${typeof data === "string" ? JSON.stringify(data) : data}\n`;
  if (isList(data)) {
    if (data.length === 0) return "[]\n";
    const next = `${indent}  `;
    return `\n${data.map((each) => `${indent}- ${toYaml(each, next).trimStart()}`).join("")}`;
  }
  const fields = Object.entries(data).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  const text = fields.map(([key, value]) => {
    const isNested = typeof value === "object" && !(isList(value) && value.length === 0);
    const shown = toYaml(value, isNested ? `${indent}  ` : indent);
    return `${indent}${key}:${isNested ? "" : " "}${shown}`;
  });
  return indent === "" ? text.join("") : `\n${text.join("")}`;
}

function isList(data: Data): data is readonly Data[] {
  return Array.isArray(data);
}
