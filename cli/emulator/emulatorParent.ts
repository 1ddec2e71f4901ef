import { readFileSync } from "node:fs";

const LOOK_EVERY_MS = 500;
const SHELLS = ["sh", "dash", "bash", "ash", "busybox", "zsh"];

/**
 * Resolves when the npx or the npm, pnpm or Yarn script that started this process has ended: npm
 * does not pass signals on to its commands. Never resolves for a process that was started in
 * another way: a shell may end and leave it running on purpose.
 */
export function endOfNpm(): Promise<void> {
  if (process.env.npm_config_user_agent === undefined) return new Promise(() => {});
  const parent = process.ppid;
  // npm runs a command in a shell, which waits for the command and survives when npm is killed.
  const grandparent = SHELLS.includes(nameOf(parent)) ? parentOf(parent) : undefined;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      // Except on Windows, an orphan gets a new parent.
      const isLeft = process.ppid !== parent || (grandparent !== undefined && parentOf(parent) !== grandparent);
      if (!isLeft) return;
      clearInterval(timer);
      resolve();
    }, LOOK_EVERY_MS);
    timer.unref();
  });
}

/** Returns the name of a process's program; `""` if it is not known. Works on Linux only. */
function nameOf(pid: number): string {
  return read(`/proc/${pid}/comm`)?.trim() ?? "";
}

/** Returns the parent of a process; `undefined` if it is not known. Works on Linux only. */
function parentOf(pid: number): string | undefined {
  // "pid (program) state parent …", where the program's name may hold spaces and parentheses.
  const stat = read(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
