import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { ConfigurationError } from "../../sdk/errors";
import { engineAddress } from "../exitWithEngine";

/*
 * The provider processes of one deployment tell each other what their resources claim: a file for each process, with
 * a line for each claim. A claim prevents that another resource deletes the object, so one that cannot be told is an error.
 */

/** The folders that may hold the files, each an existing folder and the names to make in it. The first writable one is used. */
const FOLDERS: readonly (readonly [string, ...string[]])[] = [
  [...cacheFolder(), "pulumi-serverless-gpu", "claims"],
  [tmpdir(), `pulumi-serverless-gpu-claims-${process.getuid?.() ?? "user"}`],
];

function cacheFolder(): [string, string] {
  const { XDG_CACHE_HOME } = process.env;
  if (XDG_CACHE_HOME) return [path.dirname(XDG_CACHE_HOME), path.basename(XDG_CACHE_HOME)];
  try {
    return [homedir(), ".cache"];
  } catch {
    // A user without an entry in the system's list of users, as in some containers.
    return [tmpdir(), ".cache"];
  }
}

/** The beginning of the names of this deployment's files; `undefined` without an engine. A name ends with the process. */
const deployment = engineAddress(process.argv)?.replace(/[^\w.]/g, "-");

const prepared = new Set<string>();

/** Makes the folder, and removes the files of processes that have ended. */
function prepareFolder([base, ...names]: readonly [string, ...string[]]): string {
  const folder = path.join(base, ...names);
  if (prepared.has(folder)) return folder;
  // Not recursive: Node.js does not come to an end where a folder can neither be made nor exists, as in /proc.
  names.reduce((parent, name) => makeFolder(path.join(parent, name)), base);
  for (const file of readdirSync(folder)) if (!isAlive(pidOf(file))) rmSync(path.join(folder, file), { force: true });
  prepared.add(folder);
  return folder;
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
 * @throws ConfigurationError if no folder can be written
 */
export function shareClaim(sign: "+" | "-", id: string, owner: string): void {
  if (deployment === undefined) return;
  for (const parts of FOLDERS) {
    try {
      const file = path.join(prepareFolder(parts), `${deployment}.${process.pid}`);
      appendFileSync(file, `${sign} ${id} ${owner}\n`, { mode: 0o600 });
      return;
    } catch {}
  }
  throw new ConfigurationError(
    `neither ${FOLDERS.map((parts) => path.join(...parts)).join(" nor ")} can be written. There, providers of one run tell ` +
      "each other which objects the program has, so that none is deleted that another resource adopts. Set XDG_CACHE_HOME " +
      "to a folder that can be written",
  );
}

/** Returns the owners that claim the object in other processes of this deployment that are still alive. */
export function claimsOfOtherProcesses(id: string): Set<string> {
  const owners = new Set<string>();
  if (deployment === undefined) return owners;
  for (const [sign, claimed, owner = ""] of FOLDERS.flatMap(linesOfOthers)) {
    if (claimed !== id) continue;
    if (sign === "+") owners.add(owner);
    else owners.delete(owner);
  }
  return owners;
}

function linesOfOthers(parts: readonly [string, ...string[]]): string[][] {
  const folder = path.join(...parts);
  const files = ifThere(() => readdirSync(folder)) ?? [];
  const others = files.filter(
    (file) => file.startsWith(`${deployment}.`) && pidOf(file) !== process.pid && isAlive(pidOf(file)),
  );
  const texts = others.map((file) => ifThere(() => readFileSync(path.join(folder, file), "utf8")) ?? "");
  return texts.flatMap((text) => text.split("\n")).map((line) => line.split(" "));
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
