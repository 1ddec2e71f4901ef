import { readFileSync, readlinkSync } from "node:fs";

/*
 * A process id means nothing outside its own process namespace, nor after the system has been
 * restarted. Linux shows both the namespace and the start. On other systems, these are empty
 * strings.
 */

/** Returns an id for the current boot of the system. Every boot has a different id. */
export function systemStart(): string {
  return ifShown(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
}

/** Returns the id of the process namespace that this process runs in. */
export function processNamespace(): string {
  return ifShown(() => readlinkSync("/proc/self/ns/pid"));
}

/**
 * Returns whether a process of this namespace is running, and its start time in ticks since the
 * system was booted. A process that has ended but whose parent has not noticed is not running.
 */
export function processState(pid: number): { readonly isRunning: boolean; readonly start: string } {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM means that the process is running as another user.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return { isRunning: false, start: "" };
  }
  const fields = statOf(pid);
  return { isRunning: fields[0] !== "Z" && fields[0] !== "X", start: fields[19] ?? "" };
}

/** Returns the id of the process that started a process; `undefined` if unknown. Linux only. */
export function parentOf(pid: number): number | undefined {
  const [, parent] = statOf(pid);
  return parent === undefined ? undefined : Number(parent);
}

/**
 * Returns the fields of a process's status from the third. They are counted from the last ")",
 * which ends the second field, because that field is the program's name and can contain spaces.
 */
function statOf(pid: number): string[] {
  return ifShown(() => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1) ?? "").split(" ");
}

function ifShown(fact: () => string): string {
  try {
    return fact();
  } catch {
    return "";
  }
}
