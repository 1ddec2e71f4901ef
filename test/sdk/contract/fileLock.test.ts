import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { FileLockedError, lockFile, watchLock } from "../../../sdk/contract/fileLock";

const PROGRAM = path.resolve(__dirname, "../../support/lockProcess.js");

/** A process namespace, host name and monotonic clock of its own, as in a container. */
const CONTAINER = ["--pid", "--uts", "--time", "--monotonic", "3600", "--boottime", "3600", "--fork", "--mount-proc"];
const ENTER = ["--kill-child=SIGKILL", "sh", "-c", 'hostname other; exec "$0" "$@"'];
const hasContainers = process.platform === "linux" && spawnSync("unshare", [...CONTAINER, "true"]).status === 0;
const testInContainer = hasContainers ? test.concurrent : test.concurrent.skip;
const folder = mkdtempSync(path.join(tmpdir(), "lock-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function newFile(): string {
  const file = path.join(folder, `file-${files++}`);
  writeFileSync(file, "");
  return file;
}

const locksOf = (file: string) => readdirSync(folder).filter((name) => name.startsWith(`${path.basename(file)}.lock`));

/** A process that locks a file. */
class Locker implements Disposable {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(file: string, isContained = false) {
    const program = [process.execPath, PROGRAM, file];
    const [name = "", ...args] = isContained ? ["unshare", ...CONTAINER, ...ENTER, ...program] : program;
    this.#child = spawn(name, args, { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    this.#lines = lines[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    return (await this.#lines.next()).value ?? "nothing";
  }

  send(command: string): void {
    this.#child.stdin?.write(`${command}\n`);
  }

  async ask(command: string): Promise<string> {
    this.send(command);
    return await this.line();
  }

  /** The id of the process outside of its container. */
  get pid(): number {
    const pid = this.#child.pid ?? 0;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return children === "" ? pid : Number(children);
  }

  async kill(): Promise<void> {
    const exit = once(this.#child, "exit");
    process.kill(this.pid, "SIGKILL");
    await exit;
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }
}

async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const since = performance.now();
  return [await work, performance.now() - since];
}

jest.setTimeout(120_000);

describe("the lock of a file", () => {
  test.concurrent("the lock of a file is refused at once to a second user, within the process and outside", async () => {
    const file = newFile();
    const lock = await lockFile(file);
    const [error, ms] = await timed(lockFile(file).catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(FileLockedError);
    expect(ms).toBeLessThan(3_000);
    using other = new Locker(file);
    expect(await other.line()).toMatch(`is in use by process ${process.pid} on `);
    await lock.release();
    await lock.release();
    expect(locksOf(file)).toEqual([]);
    await (await lockFile(file)).release();
  });

  test.concurrent("the lock of a file is free at once when its process was killed", async () => {
    const file = newFile();
    using holder = new Locker(file);
    expect(await holder.line()).toBe("locked");
    await holder.kill();
    const [lock, ms] = await timed(lockFile(file));
    expect([lock.isTakenOver, ms < 5_000]).toEqual([true, true]);
    await lock.release();
  });

  const testOnLinux = process.platform === "linux" ? test.concurrent : test.concurrent.skip;
  testOnLinux("is free at once when its process has ended, but its parent has not noticed", async () => {
    const file = newFile();
    // The process ends when it has read all commands, and its parent has become a program that
    // never asks.
    const script = '"$0" "$@" < /dev/null & exec sleep 60';
    const parent = spawn("sh", ["-c", script, process.execPath, PROGRAM, file], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(parent.stdout, "data");
    await pause(1_000);
    const pid = /"pid":(\d+)/.exec(readFileSync(`${file}.lock-1`, "utf8"))?.[1];
    expect(readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z ");
    const [lock, ms] = await timed(lockFile(file));
    expect(ms).toBeLessThan(5_000);
    await lock.release();
    parent.kill("SIGKILL");
  });

  test.concurrent("the lock of a file goes to one of many that start together", async () => {
    const file = newFile();
    const starts = await Promise.allSettled(Array.from({ length: 8 }, () => lockFile(file)));
    const locks = starts.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(locks).toHaveLength(1);
    await locks[0]?.release();
  });

  testInContainer("is free 15 seconds after a kill in a container, for one of two that wait", async () => {
    const file = newFile();
    using holder = new Locker(file, true);
    expect(await holder.line()).toBe("locked");
    await holder.kill();
    using first = new Locker(file);
    using second = new Locker(file);
    const [lines, ms] = await timed(Promise.all([first.line(), second.line()]));
    expect(lines.filter((line) => line === "locked")).toHaveLength(1);
    expect(lines.filter((line) => line.includes("is in use by process"))).toHaveLength(1);
    expect(ms).toBeGreaterThan(12_000);
    expect(locksOf(file)).toHaveLength(1);
  });

  testInContainer("is kept by a living process of another namespace whose clocks differ by an hour", async () => {
    const file = newFile();
    using holder = new Locker(file, true);
    expect(await holder.line()).toBe("locked");
    const [error, ms] = await timed(lockFile(file).catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(FileLockedError);
    expect(ms).toBeLessThan(14_000);
    expect(await holder.ask("check")).toBe("held");
  });

  testInContainer("is lost by a process that was stopped for 20 seconds, as soon as it continues", async () => {
    const file = newFile();
    using holder = new Locker(file, true);
    expect(await holder.line()).toBe("locked");
    process.kill(holder.pid, "SIGSTOP");
    const lock = await lockFile(file);
    await pause(5_000);
    process.kill(holder.pid, "SIGCONT");
    expect(await holder.ask("check")).toMatch(`is in use by process ${process.pid} on`);
    // What the other one does now must not harm this lock.
    await holder.ask("release");
    await pause(6_000);
    await lock.check();
    await lock.release();
  });

  testInContainer("is lost by a process that was busy for 20 seconds", async () => {
    const file = newFile();
    using holder = new Locker(file, true);
    expect(await holder.line()).toBe("locked");
    holder.send("busy 20000");
    const lock = await lockFile(file);
    expect(await holder.ask("check")).toMatch("is in use by");
    await lock.check();
    await lock.release();
  });

  test.concurrent("the lock of a file is kept by a process of this machine that was stopped for 20 seconds", async () => {
    const file = newFile();
    using holder = new Locker(file);
    expect(await holder.line()).toBe("locked");
    process.kill(holder.pid, "SIGSTOP");
    await pause(20_000);
    await expect(lockFile(file)).rejects.toThrow(FileLockedError);
    process.kill(holder.pid, "SIGCONT");
    expect(await holder.ask("check")).toBe("held");
  });

  test.concurrent("the lock of a file is free when another process has the number of the killed one", async () => {
    const file = newFile();
    using holder = new Locker(file);
    expect(await holder.line()).toBe("locked");
    await holder.kill();
    const [name = ""] = locksOf(file);
    const lockPath = path.join(folder, name);
    const text = readFileSync(lockPath, "utf8");
    // This process runs, and started at another time.
    writeFileSync(lockPath, text.replace(/"pid":\d+/, `"pid":${process.ppid}`));
    const [lock, ms] = await timed(lockFile(file));
    expect(ms).toBeLessThan(5_000);
    await lock.release();
  });

  test.concurrent("the lock of a file waits for a lock file that was left empty by a kill", async () => {
    const file = newFile();
    const next = newFile();
    writeFileSync(`${file}.lock-1`, "");
    writeFileSync(`${next}.lock-1`, "");
    await watchLock(next);
    const [lock, ms] = await timed(lockFile(file));
    expect(ms).toBeGreaterThan(14_000);
    expect(locksOf(file)).toEqual([`${path.basename(file)}.lock-2`]);
    await lock.release();
    // It was watched in the meantime.
    const [second, more] = await timed(lockFile(next));
    expect(more).toBeLessThan(2_000);
    await second.release();
  });
});
