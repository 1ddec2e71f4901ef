import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";

/** The beginning of the name of a rehearsal's folder. */
export const PREFIX = "serverless-gpu-rehearsal-";
const OWNER = "owner.json";

/** Notes in a rehearsal's folder which process uses it. */
export function markOwner(folder: string): void {
  writeFileSync(path.join(folder, OWNER), JSON.stringify({ host: hostname(), pid: process.pid }));
}

/**
 * Removes the folders of rehearsals on this computer that were killed. Folders of other computers
 * and containers stay, because their processes cannot be seen here.
 */
export function removeLeftovers(folder: string = tmpdir()): void {
  for (const name of readdirSync(folder).filter((each) => each.startsWith(PREFIX))) {
    const left = path.join(folder, name);
    try {
      const { host, pid } = JSON.parse(readFileSync(path.join(left, OWNER), "utf8"));
      if (host === hostname() && !isRunning(Number(pid))) rmSync(left, { recursive: true, force: true });
    } catch {
      // Another user's folder, or one that is just being made.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
