import { readFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";

/** Returns the documents in a YAML text. */
export function parseYaml(text: string): unknown[] {
  return parseAllDocuments(text).map((document) => {
    if ("errors" in document && document.errors[0]) throw document.errors[0];
    return document.toJS();
  });
}

/** Returns the documents in a YAML file. The path is relative to the root of the repository. */
export function readYaml<T>(file: string): T[] {
  return parseYaml(readFileSync(path.resolve(__dirname, "../..", file), "utf8")) as T[];
}
