import { readFileSync } from "node:fs";
import path from "node:path";

const { loadAll } = require("js-yaml") as { loadAll(text: string): unknown[] };

/** The documents of a YAML file, named from the repository's root. */
export function readYaml<T>(file: string): T[] {
  return loadAll(readFileSync(path.resolve(__dirname, "../..", file), "utf8")) as T[];
}
