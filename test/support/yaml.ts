import { readFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";

/** The documents of a YAML file, named from the repository's root. */
export function readYaml<T>(file: string): T[] {
  const text = readFileSync(path.resolve(__dirname, "../..", file), "utf8");
  return parseAllDocuments(text).map((document) => {
    if ("errors" in document && document.errors[0]) throw document.errors[0];
    return document.toJS();
  });
}
