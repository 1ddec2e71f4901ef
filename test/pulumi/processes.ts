import { readdir, readFile, readlink } from "node:fs/promises";
import path from "node:path";

export interface RunningProcess {
  readonly pid: number;
  /** Its arguments, separated by blanks. */
  readonly command: string;
}

/** The processes whose working directory is in a folder: the engine and its plugins. Known on Linux only. */
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
    return { pid: Number(pid), command };
  } catch {
    // It has ended meanwhile, or is another user's.
    return undefined;
  }
}

/** Ends all processes whose working directory is in a folder. */
export async function killProcessesIn(folder: string): Promise<void> {
  for (const { pid } of await processesIn(folder)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}
