import { createHash } from "node:crypto";
import { appendFileSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import path from "node:path";
import { ConfigurationError } from "../../sdk/errors";
import { engineAddress } from "../exitWithEngine";

/*
 * The provider processes of one deployment tell each other what their resources claim: a file for each process, with
 * a line for each claim. A claim prevents that another resource deletes the object, so one that cannot be told is an error.
 */

const uid = process.getuid?.();

/** The folders that may hold the files, each an existing folder and the names to make in it. The first usable one is used. */
const FOLDERS: readonly (readonly [string, ...string[]])[] = [
  ...cacheFolder(),
  [tmpdir(), `pulumi-serverless-gpu-claims-${uid ?? "user"}`],
];

function cacheFolder(): [string, ...string[]][] {
  const { XDG_CACHE_HOME } = process.env;
  const own = ["pulumi-serverless-gpu", "claims"];
  if (XDG_CACHE_HOME) return [[path.dirname(XDG_CACHE_HOME), path.basename(XDG_CACHE_HOME), ...own]];
  try {
    return [[homedir(), ".cache", ...own]];
  } catch {
    // A user without an entry in the system's list of users, as in some containers.
    return [];
  }
}

/** The machine or container: machines may share the folder, and the numbers of processes mean nothing on another one. */
const machine = createHash("sha256").update(`${hostname()} ${pidNamespace()}`).digest("hex").slice(0, 8);

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** The beginning of the names of this deployment's files; `undefined` without an engine. A name ends with the process. */
const deployment = engineAddress(process.argv)
  ?.replace(/[^\w.]/g, "-")
  .concat(`.${machine}`);

const prepared = new Set<string>();

/** The age from which a file of another machine is removed, where its process may still run. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

/** Makes the folder, and removes the files of processes that have ended. */
function prepareFolder([base, ...names]: readonly [string, ...string[]]): string {
  const folder = path.join(base, ...names);
  if (prepared.has(folder)) return folder;
  // Not recursive: Node.js does not come to an end where a folder can neither be made nor exists, as in /proc.
  names.reduce((parent, name) => makeFolder(path.join(parent, name)), base);
  if (!isPrivate(folder)) throw new Error("others can write it");
  for (const file of readdirSync(folder)) {
    if (isStale(path.join(folder, file))) rmSync(path.join(folder, file), { force: true });
  }
  prepared.add(folder);
  return folder;
}

/**
 * Returns `true` for a folder that no stranger can fill: the one for temporary files is shared by all users. A group may,
 * because Kubernetes gives volumes to one.
 */
function isPrivate(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return false;
  return uid === undefined || (found.uid === uid && (found.mode & 0o002) === 0);
}

function isStale(file: string): boolean {
  const pid = pidOf(file);
  if (!Number.isInteger(pid)) return false;
  if (file.endsWith(`.${machine}.${pid}`)) return !isAlive(pid);
  const writtenAt = lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Date.now() - writtenAt > STALE_AFTER_MS;
}

function makeFolder(folder: string): string {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return folder;
}

/**
 * Adds (`+`) or takes back (`-`) a claim.
 * @throws ConfigurationError if no folder can be used
 */
export function shareClaim(sign: "+" | "-", id: string, owner: string): void {
  if (deployment === undefined) return;
  for (const parts of FOLDERS) {
    try {
      const file = path.join(prepareFolder(parts), `${deployment}.${process.pid}`);
      // The new line first: a full disk may have cut the one before.
      appendFileSync(file, `\n${sign} ${id} ${owner}`, { mode: 0o600 });
      return;
    } catch {}
  }
  throw new ConfigurationError(
    `neither ${FOLDERS.map((parts) => path.join(...parts)).join(" nor ")} can be written by you alone. There, providers of one ` +
      "run tell each other which objects the program has, so that none is deleted that another resource adopts. Set " +
      "XDG_CACHE_HOME to a folder that exists, in which only you can write",
  );
}

/** Returns the owners that claim the object in other processes of this deployment that are still alive. */
export function claimsOfOtherProcesses(id: string): Set<string> {
  const owners = new Set<string>();
  if (deployment === undefined) return owners;
  for (const [sign, claimed, owner = ""] of FOLDERS.flatMap((parts) => linesOfOthers(parts, id))) {
    if (claimed !== id) continue;
    if (sign === "+") owners.add(owner);
    else owners.delete(owner);
  }
  return owners;
}

/** Returns the lines of those files that name the object: most do not, and to split all of them takes time. */
function linesOfOthers(parts: readonly [string, ...string[]], id: string): string[][] {
  const folder = path.join(...parts);
  const files = ifThere(() => (isPrivate(folder) ? readdirSync(folder) : [])) ?? [];
  const others = files.filter(
    (file) => file.startsWith(`${deployment}.`) && pidOf(file) !== process.pid && isAlive(pidOf(file)),
  );
  const texts = others.map((file) => ifThere(() => readFileSync(path.join(folder, file), "utf8")) ?? "");
  const naming = texts.filter((text) => text.includes(` ${id} `));
  return naming.flatMap((text) => text.split("\n")).map((line) => line.split(" "));
}

/** Returns `undefined` if there is no such file or folder: no process has written there, or it has ended. */
function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw error;
  }
}

function pidOf(file: string): number {
  return Number(file.slice(file.lastIndexOf(".") + 1));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
