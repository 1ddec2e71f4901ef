import { type Handlers, loadHandlers } from "../../emulator";
import type { EmulatorFlags } from "./emulatorFlags";

/**
 * Returns the handlers given on the command line: the files in a folder, and `--worker` programs.
 */
export function handlersOf(folder: string | undefined, workers?: EmulatorFlags["worker"]): Handlers {
  return withPrograms(folder === undefined ? {} : loadHandlers(folder), workers);
}

/** Fails if both the command line and the folder define a worker for the same endpoint. */
export function withPrograms(handlers: Handlers, workers: EmulatorFlags["worker"] = {}): Handlers {
  const both = Object.keys(workers).find((name) => Object.hasOwn(handlers, name));
  if (both !== undefined)
    throw new Error(`--worker ${both}=… and a --handlers file both handle "${both}": leave one out`);
  const programs = Object.entries(workers).map(([name, command]) => [name, { command }]);
  return { ...handlers, ...Object.fromEntries(programs) };
}
