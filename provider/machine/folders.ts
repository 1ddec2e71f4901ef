import { lstatSync, mkdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";

const uid = process.getuid?.();

/**
 * A folder that may hold this machine's files, given as an existing folder and the names of the
 * folders to create in it.
 */
type CandidateFolder = readonly [base: string, ...names: string[]];

/**
 * Returns the folders that may hold the files of one subject, best first: the folder in the user's
 * cache, then the folder for temporary files.
 */
export function candidateFolders(subject: string): readonly CandidateFolder[] {
  return [...cacheFolder(subject), [tmpdir(), `pulumi-serverless-gpu-${subject}-${uid ?? "user"}`]];
}

function cacheFolder(subject: string): CandidateFolder[] {
  const { XDG_CACHE_HOME } = process.env;
  const own = ["pulumi-serverless-gpu", subject];
  if (XDG_CACHE_HOME) return [[path.dirname(XDG_CACHE_HOME), path.basename(XDG_CACHE_HOME), ...own]];
  try {
    return [[homedir(), ".cache", ...own]];
  } catch {
    // The user isn't in the system's list of users, as can happen in containers.
    return [];
  }
}

/**
 * Creates a folder that only this user can write to. @throws Error if the folder cannot be created,
 * or if others can write to it
 */
export function makePrivateFolder([base, ...names]: CandidateFolder): string {
  // We don't use `recursive` here, because Node.js hangs if a folder neither exists nor can be
  // created, as in /proc.
  const folder = names.reduce((parent, name) => makeFolder(path.join(parent, name)), base);
  if (!isPrivate(folder)) throw new Error("others can write it");
  return folder;
}

/**
 * Returns `true` if no other user can write to the folder. This matters because all users share the
 * folder for temporary files. Group access is allowed, because Kubernetes assigns volumes to a
 * group.
 */
export function isPrivate(folder: string): boolean {
  const found = ifThere(() => lstatSync(folder, { throwIfNoEntry: false }));
  if (!found?.isDirectory()) return false;
  return uid === undefined || (found.uid === uid && (found.mode & 0o002) === 0);
}

/**
 * Returns the result of `read`, or `undefined` if the file or folder does not exist or cannot be
 * read.
 */
export function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (hasCode(error, ["ENOENT", "ENOTDIR", "EACCES"])) return undefined;
    throw error;
  }
}

function makeFolder(folder: string): string {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, ["EEXIST"])) throw error;
  }
  return folder;
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
