import { readFileSync } from "node:fs";
import { parentOf } from "../../sdk/contract/processNamespace";

const LOOK_EVERY_MS = 500;
const SHELLS = ["sh", "dash", "bash", "ash", "busybox", "zsh"];

/**
 * Resolves when the npx call, or the npm, pnpm or Yarn script, that started this process has ended.
 * npm does not forward signals to its commands. Never resolves if the process was started in
 * another way, because a shell may exit and leave it running on purpose.
 */
export function endOfNpm(): Promise<void> {
  if (process.env.npm_config_user_agent === undefined) return new Promise(() => {});
  const parent = process.ppid;
  // npm runs a command in a shell. The shell waits for the command and survives if npm is killed.
  const grandparent = SHELLS.includes(nameOf(parent)) ? parentOf(parent) : undefined;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      // An orphaned process gets a new parent, except on Windows.
      const isLeft = process.ppid !== parent || (grandparent !== undefined && parentOf(parent) !== grandparent);
      if (!isLeft) return;
      clearInterval(timer);
      resolve();
    }, LOOK_EVERY_MS);
    timer.unref();
  });
}

/** Returns the name of a process's program; `""` if unknown. Linux only. */
function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}
