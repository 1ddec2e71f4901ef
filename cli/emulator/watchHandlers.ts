import { readdirSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { EmulatorClock, Handlers } from "../../emulator";
import { checkOptions } from "../../emulator/checkOptions";
import { handlerFiles, handlerOf, notLoaded } from "../../emulator/workers/loadHandlers";
import type { EmulatorFlags } from "./emulatorFlags";
import { withPrograms } from "./handlers";

/**
 * Polls the file system, because change notifications do not reach containers and network drives.
 */
const LOOK_EVERY_MS = 300;

/** The folder to watch, and the handlers to keep up to date. */
export interface WatchedHandlers {
  readonly folder: string;
  readonly worker: EmulatorFlags["worker"];
  /** The handlers that the emulator uses. They are changed in place. */
  readonly handlers: Record<string, Handlers[string]>;
  readonly clock: EmulatorClock;
  /** Tells the user. */
  readonly say: (text: string) => void;
}

/**
 * Reloads the handlers of a folder when a file in it changes. If one cannot be loaded, the previous
 * ones stay in use.
 */
export function watchHandlers({ folder, worker, handlers, clock, say }: WatchedHandlers): void {
  let seen = fingerprint(folder);
  let loads = 0;
  let isBusy = false;

  async function look(): Promise<void> {
    const now = fingerprint(folder);
    if (now === seen || isBusy) return;
    isBusy = true;
    seen = now;
    try {
      const loaded = withPrograms(await loadAgain(folder, ++loads), worker);
      checkOptions({ handlers: loaded, clock });
      for (const name of Object.keys(handlers)) delete handlers[name];
      Object.assign(handlers, loaded);
      say(`reloaded the handlers: ${Object.keys(loaded).join(", ")}`);
    } catch (error) {
      say(`${error instanceof Error ? error.message : error}. The handlers are unchanged`);
    } finally {
      isBusy = false;
    }
  }

  setInterval(() => void look(), LOOK_EVERY_MS).unref();
}

/** A module that is imported with a different query is loaded again. */
async function loadAgain(folder: string, query: number): Promise<Handlers> {
  const root = realpathSync(folder) + path.sep;
  for (const file of Object.keys(require.cache)) if (file.startsWith(root)) delete require.cache[file];
  const loads = Object.entries(handlerFiles(folder)).map(async ([name, file]) => {
    const url = `${pathToFileURL(file)}?${query}`;
    const exported: unknown = await import(url).catch((cause: unknown) => Promise.reject(notLoaded(file, cause)));
    return [name, handlerOf(file, exported)] as const;
  });
  return Object.fromEntries(await Promise.all(loads));
}

/**
 * Returns a string that changes with the files of a folder and its sub-folders, without installed
 * packages.
 */
function fingerprint(folder: string): string {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== "node_modules");
    return entries.map((entry) => described(path.join(folder, entry.name), entry.isDirectory())).join("\n");
  } catch {
    // A file or the folder has disappeared while it was read.
    return "";
  }
}

function described(file: string, isFolder: boolean): string {
  if (isFolder) return `${file}\n${fingerprint(file)}`;
  const { mtimeMs, size } = statSync(file);
  return `${file} ${mtimeMs} ${size}`;
}
