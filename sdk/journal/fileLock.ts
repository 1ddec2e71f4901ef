import { link, readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { processNamespace, processStart, systemStart } from "../contract/processNamespace";
import { CodedError } from "../errors";

/** The process that holds a lock. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /**
   * The boot of the machine, and the namespace and start of the process. A value that is not known
   * is empty.
   */
  readonly boot: string;
  readonly namespace: string;
  readonly start: string;
}

/** The locks that this process holds. */
const held = new Set<string>();

/**
 * Locks a file until the returned function is called or this process ends. A lock becomes free when
 * its process ends. To take the lock, a process creates a lock file with the next number. Only one
 * process can create a given file, and the lock file with the highest number holds the lock.
 * @param what what the file is, in messages
 * @param instead what several processes can use instead
 * @throws JOURNAL_LOCKED if another process, or this process, already holds the lock
 */
export async function lockFile(file: string, what: string, instead: string): Promise<() => Promise<void>> {
  const me: Holder = { pid: process.pid, host: hostname(), ...identity(process.pid) };
  const own = path.join(path.dirname(file), `.${path.basename(file)}.${me.pid}.${Math.random().toString(36).slice(2)}`);
  try {
    await writeFile(own, JSON.stringify(me), { flag: "wx" });
    for (;;) {
      const [highest = 0, ...older] = await lockNumbers(file);
      const name = lockName(file, highest);
      const holder = highest > 0 ? await holderOf(name) : undefined;
      if (held.has(name) || (holder && mayRun(holder, me))) {
        throw locked(`${what} ${file}`, instead, name, holder ?? me);
      }
      const next = lockName(file, highest + 1);
      if (!(await isFirst(own, next))) continue;
      if ((await lockNumbers(file))[0] !== highest + 1) {
        await unlink(next).catch(() => {});
        continue;
      }
      held.add(next);
      for (const number of [highest, ...older]) if (number > 0) await unlink(lockName(file, number)).catch(() => {});
      return async () => {
        held.delete(next);
        await unlink(next).catch(() => {});
      };
    }
  } finally {
    await unlink(own).catch(() => {});
  }
}

/** Returns `false` if another process was faster. */
async function isFirst(own: string, next: string): Promise<boolean> {
  try {
    await link(own, next);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function lockName(file: string, number: number): string {
  return `${file}.lock-${number}`;
}

/** Returns the numbers of the lock files, highest first. */
async function lockNumbers(file: string): Promise<number[]> {
  const start = `${path.basename(file)}.lock-`;
  const names = (await readdir(path.dirname(file))).filter((name) => name.startsWith(start));
  const numbers = names.map((name) => Number(name.slice(start.length)));
  return numbers.filter((number) => Number.isSafeInteger(number)).sort((a, b) => b - a);
}

async function holderOf(name: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(name, "utf8")) as Holder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns `false` if the process that took a lock has ended for certain. */
function mayRun(holder: Holder, me: Holder): boolean {
  if (holder.host !== me.host) return true;
  if (holder.boot !== me.boot) return false;
  if (holder.namespace !== me.namespace) return true;
  // This process does not hold the lock, so the lock was taken by an earlier process with the same
  // id.
  if (holder.pid === me.pid) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return holder.start === processStart(holder.pid);
}

function identity(pid: number): Pick<Holder, "boot" | "namespace" | "start"> {
  return { boot: systemStart(), namespace: processNamespace(), start: processStart(pid) };
}

function locked(file: string, instead: string, name: string, { pid, host }: Holder): CodedError {
  return new CodedError(
    "JOURNAL_LOCKED",
    `${file} is in use by process ${pid} on ${host}: one process at a time can use a file. Wait until it has ` +
      `ended, or ${instead}. If you know that it has ended, delete ${name}`,
  );
}
