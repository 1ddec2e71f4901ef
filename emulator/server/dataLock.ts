import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";

/** Reserves a data file for one emulator. */
export interface DataLock {
  /** @throws Error if another running emulator uses the data file */
  acquire(): void;
  release(): void;
}

/** Stands for an unknown start time, because Windows does not provide it quickly. */
const UNKNOWN = "unknown";
const ZOMBIE = "ended";

/**
 * Each emulator creates its own file next to the data file, named after its process id and start
 * time, and only then looks for files of other processes. If two start at the same time, at most
 * one continues. The start time distinguishes a process from a later one with the same id, so the
 * file of a killed emulator has no effect and can be removed. A lock that expires
 * (`proper-lockfile`) would refuse a restart for some seconds after a kill, and an emulator that is
 * suspended or busy for longer would lose it.
 */
export function createDataLock(file: string): DataLock {
  const prefix = `${path.basename(file)}.lock-`;
  const folder = path.dirname(file);
  const own = path.join(folder, `${prefix}${process.pid}-${startOf(process.pid)}`);
  let isHeld = false;

  function release(): void {
    // After the first release, the file may belong to the next emulator in this process.
    if (isHeld) rmSync(own, { force: true });
    isHeld = false;
  }

  function assertFree(): void {
    for (const name of readdirSync(folder).filter((name) => name.startsWith(prefix))) {
      const lockFile = path.join(folder, name);
      const [, pid, start] = /^(\d+)-(.+)$/.exec(name.slice(prefix.length)) ?? [];
      if (pid === undefined || start === undefined || lockFile === own) continue;
      if (isRunning(Number(pid), start)) throw inUse(file, pid, lockFile);
      rmSync(lockFile, { force: true });
    }
  }

  return {
    acquire() {
      try {
        closeSync(openSync(own, "wx", 0o600));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") throw inUse(file, String(process.pid), own);
        throw error;
      }
      isHeld = true;
      try {
        assertFree();
      } catch (error) {
        release();
        throw error;
      }
    },
    release,
  };
}

export class DataFileInUse extends Error {}

function inUse(file: string, pid: string, lockFile: string): Error {
  const who = pid === String(process.pid) ? "this process" : `process ${pid}`;
  return new DataFileInUse(
    `the data file ${file} is in use by another emulator, in ${who}. Stop that one first, or name another data file. ` +
      `If no emulator runs there, remove ${lockFile}.`,
  );
}

function isRunning(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM means that the process is running as another user.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const presentStart = startOf(pid);
  return presentStart === start || presentStart === UNKNOWN || start === UNKNOWN;
}

/** Returns when a process started, as a word that no other process with the same id has. */
function startOf(pid: number): string {
  try {
    if (process.platform === "linux") return startOnLinux(pid);
    if (process.platform === "win32") return UNKNOWN;
    const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
    const text = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { env, encoding: "utf8", timeout: 5_000 });
    return text.trim().replaceAll(/\W+/g, "-") || UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

/** The kernel counts a process's start time from the boot of the machine. */
function startOnLinux(pid: number): string {
  // "pid (program) state parent …", where the program's name may contain spaces and brackets.
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return ZOMBIE;
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
  return `${fields[19]}-${boot}`;
}
