import { type Handlers, loadHandlers } from "../../emulator";
import type { EmulatorFlags } from "./emulatorFlags";

/**
 * Returns the handlers from the command line: the files of a folder, and the `--worker` programs.
 */
export function handlersOf(folder: string | undefined, workers?: EmulatorFlags["worker"]): Handlers {
  return withPrograms(folder === undefined ? {} : loadHandlers(folder), workers);
}

/**
 * A worker on the command line and a file in the folder for the same endpoint contradict each
 * other.
 */
export function withPrograms(handlers: Handlers, workers: EmulatorFlags["worker"] = {}): Handlers {
  const both = Object.keys(workers).find((name) => Object.hasOwn(handlers, name));
  if (both !== undefined)
    throw new Error(`--worker ${both}=… and a --handlers file both handle "${both}": leave one out`);
  const programs = Object.entries(workers).map(([name, command]) => [name, { command }]);
  return { ...handlers, ...Object.fromEntries(programs) };
}
