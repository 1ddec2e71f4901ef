import { readFileSync, readlinkSync } from "node:fs";

/*
 * A process id means nothing outside its own process namespace, nor after the system was started
 * again. Linux shows both; elsewhere, these are empty strings.
 */

/** Returns an id for the current boot of the system. Every boot has a different id. */
export function systemStart(): string {
  return ifShown(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
}

/** Returns the id of the process namespace that this process runs in. */
export function processNamespace(): string {
  return ifShown(() => readlinkSync("/proc/self/ns/pid"));
}

/** Returns the start time of a process, in ticks since the system was booted. */
export function processStart(pid: number): string {
  // This is the 22nd field. It is counted from the last ")", which ends the second field, because
  // that field is the program's name and can contain spaces.
  return ifShown(() => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "");
}

function ifShown(fact: () => string): string {
  try {
    return fact();
  } catch {
    return "";
  }
}
