import { readdirSync } from "node:fs";
import path from "node:path";
import { type RecordedLine, readLine } from "../../../sdk/recording/recording";
import { linesOf } from "./lines";

/** Returns the files of a recording, oldest first. */
export function recordingFiles(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => /^\d{4}-\d\d-\d\d\.jsonl$/.test(name));
  return names.sort().map((name) => path.join(folder, name));
}

/** Yields the lines of the files. A damaged line yields `undefined`. */
export function* recordedLines(files: readonly string[]): Generator<RecordedLine | undefined> {
  for (const file of files) for (const text of linesOf(file)) if (text !== "") yield readLine(text);
}
