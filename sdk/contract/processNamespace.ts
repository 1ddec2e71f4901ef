import { readFileSync, readlinkSync } from "node:fs";

/*
 * A process id means nothing outside its own process namespace, nor after the system was started
 * again. Linux shows both; elsewhere, these are empty strings.
 */

/** Returns what tells this start of the system from every other one. */
export function systemStart(): string {
  return ifShown(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
}

/** Returns the process namespace in which this process runs. */
export function processNamespace(): string {
  return ifShown(() => readlinkSync("/proc/self/ns/pid"));
}

/** Returns when a process was started, in ticks since the start of the system. */
export function processStart(pid: number): string {
  // The 22nd field. The second, the program's name, may contain spaces and ends with the last ")".
  return ifShown(() => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "");
}

function ifShown(fact: () => string): string {
  try {
    return fact();
  } catch {
    return "";
  }
}
