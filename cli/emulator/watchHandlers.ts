import { readdirSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { EmulatorClock, Handlers } from "../../emulator";
import { checkOptions } from "../../emulator/checkOptions";
import { handlerFiles, handlerOf, notLoaded } from "../../emulator/workers/loadHandlers";
import type { EmulatorFlags } from "./emulatorFlags";
import { withPrograms } from "./handlers";

/** Poll the file system, because change notifications don't reach containers and network drives. */
const LOOK_EVERY_MS = 300;

/** The folder to watch, and the handlers to update. */
interface WatchedHandlers {
  readonly folder: string;
  readonly worker: EmulatorFlags["worker"];
  /** The emulator's handlers, which are updated in place. */
  readonly handlers: Record<string, Handlers[string]>;
  readonly clock: EmulatorClock;
  readonly say: (text: string) => void;
}

/**
 * Reloads the handlers in a folder when a file changes. If a file fails to load, the previous
 * handlers stay in use.
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

/** Importing a module with a different query string loads it again. */
async function loadAgain(folder: string, query: number): Promise<Handlers> {
  const root = realpathSync(folder) + path.sep;
  const { cache } = createRequire(__filename);
  for (const file of Object.keys(cache)) if (file.startsWith(root)) delete cache[file];
  const loads = Object.entries(handlerFiles(folder)).map(async ([name, file]) => {
    const url = `${pathToFileURL(file)}?${query}`;
    const exported: unknown = await import(url).catch((cause: unknown) => Promise.reject(notLoaded(file, cause)));
    return [name, handlerOf(file, exported)] as const;
  });
  return Object.fromEntries(await Promise.all(loads));
}

/**
 * Returns a string that changes whenever a file in the folder changes. Installed packages are
 * ignored.
 */
function fingerprint(folder: string): string {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== "node_modules");
    return entries.map((entry) => described(path.join(folder, entry.name), entry.isDirectory())).join("\n");
  } catch {
    // A file or the folder disappeared while it was being read.
    return "";
  }
}

function described(file: string, isFolder: boolean): string {
  if (isFolder) return `${file}\n${fingerprint(file)}`;
  const { mtimeMs, size } = statSync(file);
  return `${file} ${mtimeMs} ${size}`;
}
