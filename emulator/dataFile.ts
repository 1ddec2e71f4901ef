import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";

/** Keeps the emulator's state in a file, so that it survives the process. */
export interface DataFile {
  /** What the file holds; undefined when there is none yet. Throws when it cannot be read. */
  load(): unknown;
  /** To be called at every change. */
  changed(): void;
  /** Resolves once every change so far is in the file. */
  saved(): Promise<void>;
}

/**
 * Writes are atomic: the new state goes into a file of its own, which then takes the old one's place. Changes that come
 * while one is under way go together into the next.
 * @param snapshot the state to keep, as plain JSON
 */
export function createDataFile(file: string, snapshot: () => unknown): DataFile {
  let changes = 0;
  let savedChanges = 0;
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    const included = changes;
    const next = `${file}.tmp`;
    await writeFile(next, JSON.stringify(snapshot()));
    await rename(next, file);
    savedChanges = included;
  }

  return {
    load() {
      let text: string;
      try {
        text = readFileSync(file, "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
      try {
        return JSON.parse(text);
      } catch (cause) {
        throw new Error(`${file} is not the emulator's: it holds no JSON. Name another file or remove it.`, { cause });
      }
    },
    changed() {
      changes += 1;
    },
    async saved() {
      const wanted = changes;
      while (savedChanges < wanted) {
        writing ??= write().finally(() => {
          writing = undefined;
        });
        await writing;
      }
    },
  };
}
