import { readdir, readFile, readlink } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface RunningProcess {
  readonly pid: number;
  /** Its arguments, separated by blanks. */
  readonly command: string;
}

/**
 * The processes whose working directory is in a folder: the engine and its plugins. Known on Linux
 * only.
 */
export async function processesIn(folder: string): Promise<RunningProcess[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^[0-9]+$/.test(name));
  const found = await Promise.all(pids.map((pid) => inspect(pid, folder)));
  return found.filter((process) => process !== undefined);
}

async function inspect(pid: string, folder: string): Promise<RunningProcess | undefined> {
  try {
    const workingDirectory = await readlink(`/proc/${pid}/cwd`);
    if (!`${workingDirectory}${path.sep}`.startsWith(folder + path.sep)) return undefined;
    const command = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ").trim();
    // An exiting process no longer has a command line.
    return command === "" ? undefined : { pid: Number(pid), command };
  } catch {
    // The process has ended, or belongs to another user.
    return undefined;
  }
}

/** Ends all processes whose working directory is in a folder, and returns when they have ended. */
export async function killProcessesIn(folder: string): Promise<void> {
  const giveUpAt = performance.now() + 30_000;
  for (let left = await processesIn(folder); left.length > 0; left = await processesIn(folder)) {
    if (performance.now() > giveUpAt)
      throw new Error(`still running after 30 s: ${left.map(({ command }) => command)}`);
    for (const { pid } of left) kill(pid);
    await sleep(20);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended.
  }
}
