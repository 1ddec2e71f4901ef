import { readFileSync, readlinkSync } from "node:fs";

/*
 * A process id means nothing outside its own process namespace, nor after the system was started
 * again. Linux shows both; elsewhere, these are empty strings.
 */

/**
 * Returns an id for the current boot of the system, which differs from that of every other boot.
 */
export function systemStart(): string {
  return ifShown(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
}

/** Returns the id of the process namespace that this process runs in. */
export function processNamespace(): string {
  return ifShown(() => readlinkSync("/proc/self/ns/pid"));
}

/** Returns when a process was started, in ticks since the system was booted. */
export function processStart(pid: number): string {
  // This is the 22nd field. The second field is the program's name, which can contain spaces; it
  // ends with the last ")".
  return ifShown(() => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "");
}

function ifShown(fact: () => string): string {
  try {
    return fact();
  } catch {
    return "";
  }
}
