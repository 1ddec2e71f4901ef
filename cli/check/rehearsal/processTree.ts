import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { parentOf } from "../../../sdk/contract/processNamespace";

/**
 * Kills a process and everything that it has started, which may be in process groups of its own:
 * the engine starts the program and the providers that way.
 */
export function killTree(pid: number): void {
  if (process.platform === "win32") return void quietly(() => execFileSync("taskkill", ["/pid", `${pid}`, "/T", "/F"]));
  // Find all of them first, because the children of a dead process are no longer its children.
  killAll([pid, ...descendantsOf(pid)]);
}

/** Kills processes that may have ended. */
export function killAll(pids: readonly number[]): void {
  for (const each of pids) quietly(() => process.kill(each, "SIGKILL"));
}

/** Returns the ids of all processes that a process has started, and that these have started. */
export function descendantsOf(pid: number): number[] {
  const parents = parentsOfAll();
  const found: number[] = [];
  for (let last = [pid]; last.length > 0; found.push(...last)) {
    last = [...parents].flatMap(([child, parent]) => (last.includes(parent) ? [child] : []));
  }
  return found;
}

/** Returns the parent of each process. Slim containers have no `ps`. */
function parentsOfAll(): ReadonlyMap<number, number> {
  if (process.platform === "linux") {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return new Map(pids.map(Number).flatMap((pid) => entryOf(pid)));
  }
  const lines = quietly(() => execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })) ?? "";
  return new Map(
    lines
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]),
  );
}

function entryOf(pid: number): [number, number][] {
  const parent = parentOf(pid);
  return parent === undefined ? [] : [[pid, parent]];
}

function quietly<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    // The process has ended.
    return undefined;
  }
}
