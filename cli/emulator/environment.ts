import { shellWord } from "../shownValues";
import type { Running } from "./running";

/** Returns an emulator's environment as `export` commands for a POSIX shell. */
export function describeEnvironment({ url, env }: Running): string {
  const exports = Object.entries(env).map(([name, value]) => `export ${name}=${shellWord(value)}\n`);
  return `# The emulator listens on ${url}. Its page: ${pageUrlOf(url)}\n${exports.join("")}`;
}

/** Returns the URL of the emulator's web page. */
export function pageUrlOf(url: string): string {
  return `${url}/_emulator/`;
}
