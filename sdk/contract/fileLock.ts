import { randomUUID } from "node:crypto";
import { type FileHandle, open, readdir, readFile, unlink } from "node:fs/promises";
import { hostname, uptime } from "node:os";
import path from "node:path";
import { processNamespace, processState, systemStart } from "./processNamespace";

/**
 * A lock on a file that several processes, containers and machines may share. A lock file has the
 * next higher number than the one before, so only one process can create it, and the lock file with
 * the highest number holds the lock. Its process writes a heartbeat into it. The lock is free when
 * the process has provably ended or, if it belongs to another process namespace or machine, when no
 * beat arrived for 15 seconds. No clocks are compared: a waiting process uses only its own clock.
 */
export interface FileLock {
  /** `true` if another process may have used the file before, and did not release the lock. */
  readonly isTakenOver: boolean;
  /** Returns `true` if the lock was certainly held less than five seconds ago. */
  isFresh(): boolean;
  /**
   * Reads the lock again, unless it is fresh. Must be called before each use of the file.
   * @throws FileLockedError if another process has taken over the lock
   */
  check(): Promise<void>;
  release(): Promise<void>;
}

/** Thrown when another process, or this process, holds the lock of a file. */
export class FileLockedError extends Error {
  readonly pid: number;
  readonly host: string;

  constructor(file: string, { pid, host }: Pick<Holder, "pid" | "host">) {
    super(`${file} is in use by process ${pid} on ${host}`);
    this.pid = pid;
    this.host = host;
  }
}

/** The process that holds a lock. */
interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** Where its process id has a meaning: a boot of a machine, and a process namespace. */
  readonly place: string;
  /** When the process started. Empty if that is not known. */
  readonly start: string;
}

/** The contents of a lock file: the number of the last beat, and the holder. */
interface Seen {
  readonly text: string;
  readonly holder: Holder | undefined;
}

/** How long a lock stays held after its last beat, in milliseconds. */
const SILENCE_MS = 15_000;

/** How long a holder may rely on its last beat, in milliseconds. */
const FRESH_MS = 5_000;

const BEAT_MS = 2_000;
const LOOK_MS = 500;
const BEAT_DIGITS = 12;

/**
 * Locks a file. If its holder is silent, waits until the holder has been silent for 15 seconds.
 * @throws FileLockedError
 */
export async function lockFile(file: string): Promise<FileLock> {
  const me: Holder = {
    id: randomUUID(),
    pid: process.pid,
    host: hostname(),
    place: `${systemStart() || hostname()} ${processNamespace()}`,
    start: processState(process.pid).start,
  };
  let watched = earlier.get(file);
  for (;;) {
    const [number = 0] = await lockNumbers(file);
    const seen = number === 0 ? undefined : await seenIn(file, number);
    if (number > 0 && !seen) continue;
    if (seen) {
      const isSame = watched?.number === number && watched.holder?.id === seen.holder?.id;
      if (isSame && watched?.text !== seen.text && seen.holder) throw new FileLockedError(file, seen.holder);
      if (!isSame) watched = { ...seen, number, since: elapsedMs() };
      const life = lifeOf(seen.holder, me);
      if (life === "runs") throw new FileLockedError(file, seen.holder ?? me);
      if (life === "unknown" && elapsedMs() - (watched?.since ?? 0) < SILENCE_MS) {
        await pause(LOOK_MS);
        continue;
      }
    }
    const lock = await take(file, me, number, seen);
    if (lock) return lock;
    await pause(Math.random() * LOOK_MS);
  }
}

/** A lock file as it was at some time. */
interface Watched extends Seen {
  readonly number: number;
  readonly since: number;
}

const earlier = new Map<string, Watched>();

/**
 * Notes the current beat of the lock's holder. If another file must be locked first, call this
 * before that, so that both waits for a silent holder begin at the same time.
 */
export async function watchLock(file: string): Promise<void> {
  const [number = 0] = await lockNumbers(file);
  const seen = number === 0 ? undefined : await seenIn(file, number);
  if (seen) earlier.set(file, { ...seen, number, since: elapsedMs() });
}

/**
 * Creates the next lock file. Returns `undefined` if another process created it first, or if the
 * process that holds the lock is still running.
 */
async function take(file: string, me: Holder, number: number, dead: Seen | undefined): Promise<FileLock | undefined> {
  const mine = number + 1;
  const name = lockName(file, mine);
  const handle = await open(name, "wx").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") return undefined;
    throw error;
  });
  if (!handle) return undefined;
  const lock = new HeldLock(file, me, mine, handle, dead !== undefined);
  try {
    await lock.beat();
    // If the other process beats after this read, it finds the new lock file.
    const others = (await lockNumbers(file)).filter((each) => each !== mine);
    const isSilent = others.length === 0 || (await seenIn(file, number))?.text === dead?.text;
    if (others.every((each) => each === number) && isSilent) {
      for (const each of others) await unlink(lockName(file, each)).catch(() => {});
      return lock.start();
    }
    await lock.abandon();
    return undefined;
  } catch (error) {
    await lock.abandon();
    if (error instanceof FileLockedError) return undefined;
    throw error;
  }
}

class HeldLock implements FileLock {
  readonly isTakenOver: boolean;
  readonly #file: string;
  readonly #me: Holder;
  readonly #number: number;
  readonly #handle: FileHandle;
  #beats = 0;
  #provenAt = Number.NEGATIVE_INFINITY;
  #beating: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReleased = false;

  constructor(file: string, me: Holder, number: number, handle: FileHandle, isTakenOver: boolean) {
    this.#file = file;
    this.#me = me;
    this.#number = number;
    this.#handle = handle;
    this.isTakenOver = isTakenOver;
  }

  start(): FileLock {
    this.#timer = setInterval(() => void this.beat().catch(() => {}), BEAT_MS).unref();
    return this;
  }

  isFresh(): boolean {
    return elapsedMs() - this.#provenAt < FRESH_MS;
  }

  async check(): Promise<void> {
    if (!this.isFresh()) await this.beat();
  }

  /** Writes a beat first, and then looks for the lock file of another process. */
  beat(): Promise<void> {
    this.#beating ??= this.#beatOnce().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  async #beatOnce(): Promise<void> {
    const begunAt = elapsedMs();
    const text = `${String(++this.#beats).padStart(BEAT_DIGITS, "0")}${JSON.stringify(this.#me)}`;
    await this.#handle.write(text, 0);
    // Other machines see it only now.
    await this.#handle.datasync();
    const [highest = 0] = await lockNumbers(this.#file);
    const holder = highest === 0 ? undefined : (await seenIn(this.#file, highest))?.holder;
    if (highest !== this.#number || holder?.id !== this.#me.id) {
      clearInterval(this.#timer);
      throw new FileLockedError(this.#file, holder ?? { pid: 0, host: "another machine" });
    }
    this.#provenAt = begunAt;
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearInterval(this.#timer);
    const isMine = await this.check().then(
      () => true,
      () => false,
    );
    await this.#handle.close();
    if (isMine) await unlink(lockName(this.#file, this.#number)).catch(() => {});
  }

  /** Removes the lock file, which this process has just created. */
  async abandon(): Promise<void> {
    await this.#handle.close();
    await unlink(lockName(this.#file, this.#number)).catch(() => {});
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

/** Reads a lock file. Returns `undefined` if it does not exist anymore. */
async function seenIn(file: string, number: number): Promise<Seen | undefined> {
  let text: string;
  try {
    text = await readFile(lockName(file, number), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return { text, holder: JSON.parse(text.slice(BEAT_DIGITS)) as Holder };
  } catch {
    // Its process has not written it yet, or was killed before.
    return { text, holder: undefined };
  }
}

function lifeOf(holder: Holder | undefined, me: Holder): "runs" | "ended" | "unknown" {
  if (!holder || holder.place !== me.place) return "unknown";
  const { isRunning, start } = processState(holder.pid);
  if (!isRunning || (start !== "" && holder.start !== "" && start !== holder.start)) return "ended";
  return start !== "" && start === holder.start ? "runs" : "unknown";
}

/** Returns the time since the machine was started, including the time in which it was suspended. */
function elapsedMs(): number {
  return Math.max(performance.now() - STARTED.performance, (uptime() - STARTED.uptime) * 1_000);
}

const STARTED = { performance: performance.now(), uptime: uptime() };

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
