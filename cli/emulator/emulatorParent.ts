import { readFileSync } from "node:fs";

const LOOK_EVERY_MS = 500;
const SHELLS = ["sh", "dash", "bash", "ash", "busybox", "zsh"];

/**
 * Resolves when npx or an npm script (pnpm's and Yarn's too) started this process and has ended, however it ended: npm
 * hands no signal on to what it runs. Never resolves for a process that was started in another way: a shell may end and
 * leave it behind on purpose.
 */
export function endOfNpm(): Promise<void> {
  if (process.env.npm_config_user_agent === undefined) return new Promise(() => {});
  const parent = process.ppid;
  // npm runs a command by a shell, which waits for it and goes on when npm is killed.
  const grandparent = SHELLS.includes(nameOf(parent)) ? parentOf(parent) : undefined;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      // An orphan gets another parent (not on Windows, where it goes on).
      const isLeft = process.ppid !== parent || (grandparent !== undefined && parentOf(parent) !== grandparent);
      if (!isLeft) return;
      clearInterval(timer);
      resolve();
    }, LOOK_EVERY_MS);
    timer.unref();
  });
}

/** The name of a process's program; `""` where it is not known: on Linux only. */
function nameOf(pid: number): string {
  return read(`/proc/${pid}/comm`)?.trim() ?? "";
}

/** The parent of a process; `undefined` where it is not known: on Linux only. */
function parentOf(pid: number): string | undefined {
  // "pid (program) state parent …", where the program's name may hold blanks and brackets.
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
