import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { digestOfSources } from "../../tools/sourcesOfBuild";
import { API } from "./campaignApi";

const ROOT = path.resolve(__dirname, "../..");
/** Git-ignored. */
const FOLDER = path.join(ROOT, ".scratch/faults");
/** What the results depend on. */
const SOURCES = ["dist", "test/faults", "emulator"];

/** Results of a campaign's parts, by title. A stopped campaign continues after them. */
export interface Progress<T> {
  /** Returns the result of a part that was played with the same code. */
  get(title: string): T | undefined;
  add(title: string, result: T): void;
}

/**
 * Returns the results that a campaign has left in `.scratch/faults/<name>.progress.jsonl`. A change
 * of the code, the emulator or the campaign makes them void.
 */
export function progressOf<T>(name: string): Progress<T> {
  const code = digestOfSources(SOURCES);
  const file = path.join(FOLDER, `${name}.progress.jsonl`);
  const lines = readLines(file).map((line) => JSON.parse(line) as { code: string; title: string; result: T });
  const results = new Map(lines.filter((line) => line.code === code).map(({ title, result }) => [title, result]));
  return {
    get: (title) => results.get(title),
    add(title, result) {
      results.set(title, result);
      mkdirSync(FOLDER, { recursive: true });
      appendFileSync(file, `${JSON.stringify({ code, title, result })}\n`);
    },
  };
}

/**
 * Returns a test that is not run again if an earlier run has passed it with the same code. The
 * test's first argument is its title.
 * @param group of the titles
 */
export function once<Rest extends readonly unknown[]>(
  campaign: string,
  group: string,
  play: (title: string, ...rest: Rest) => Promise<void>,
): (title: string, ...rest: Rest) => Promise<void> {
  const progress = progressOf<"passed">(`${campaign}-${API}`);
  return async (title, ...rest) => {
    if (progress.get(`${group}: ${title}`)) return;
    await play(title, ...rest);
    progress.add(`${group}: ${title}`, "passed");
  };
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}
