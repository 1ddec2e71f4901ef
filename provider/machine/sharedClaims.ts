import { appendFileSync, lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { ConfigurationError } from "../../sdk/errors";
import { engineAddress } from "../exitWithEngine";
import { type CandidateFolder, candidateFolders, ifThere, isPrivate, makePrivateFolder } from "./folders";
import { isAlive, machine } from "./processes";

/*
 * The provider processes of one deployment share what their resources claim: each process has a
 * file with a line for each claim. A claim prevents another resource from deleting the record, so a
 * claim that cannot be shared is an error.
 */

/**
 * A resource's claim on a record: the resource has the record, will adopt it, or has failed to
 * adopt it.
 */
export interface RecordClaim {
  readonly standing: "held" | "wanted" | "failed";
  /** The reason why the adoption failed. Empty unless `standing` is `failed`. */
  readonly reason: string;
}

/** The folders that may hold the files. The first usable folder is used. */
const FOLDERS = candidateFolders("claims");

/** Identifies this deployment; `undefined` if there is no engine. */
const deployment = deploymentOf(engineAddress(process.argv));

/**
 * Returns the beginning of the file names of a deployment. Each file name ends with a process id.
 */
function deploymentOf(engine: string | undefined): string | undefined {
  return engine?.replace(/[^\w.]/g, "-").concat(`.${machine}`);
}

const prepared = new Set<string>();

/**
 * The age at which a file of another machine is removed, even though its process may still be
 * running.
 */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

/** Creates the folder, and removes files whose processes have ended. */
function prepareFolder(candidate: CandidateFolder): string {
  const folder = path.join(...candidate);
  if (prepared.has(folder)) return folder;
  makePrivateFolder(candidate);
  for (const file of readdirSync(folder)) {
    if (isStale(path.join(folder, file))) rmSync(path.join(folder, file), { force: true });
  }
  prepared.add(folder);
  return folder;
}

function isStale(file: string): boolean {
  const pid = pidOf(file);
  if (!Number.isInteger(pid)) return false;
  if (file.endsWith(`.${machine}.${pid}`)) return !isAlive(pid);
  const writtenAt = ifThere(() => lstatSync(file).mtimeMs) ?? Date.now();
  return Date.now() - writtenAt > STALE_AFTER_MS;
}

/**
 * Adds, changes or, with `undefined`, withdraws a claim.
 * @param engine the engine's address; only a program has to pass it
 * @throws ConfigurationError if no folder can be used
 */
export function shareClaim(id: string, owner: string, claim: RecordClaim | undefined, engine?: string): void {
  const sharedIn = deploymentOf(engine) ?? deployment;
  if (sharedIn === undefined) return;
  for (const parts of FOLDERS) {
    try {
      const file = path.join(prepareFolder(parts), `${sharedIn}.${process.pid}`);
      // Each entry starts with a line break, because a full disk may have cut off the previous
      // line.
      const { standing, reason } = claim ?? { standing: "released", reason: "" };
      appendFileSync(file, `\n${standing} ${id} ${owner} ${JSON.stringify(reason)}`, { mode: 0o600 });
      return;
    } catch {}
  }
  throw new ConfigurationError(
    `neither ${FOLDERS.map((parts) => path.join(...parts)).join(" nor ")} can be used: they cannot be written to, or others can ` +
      "also write there. In them, the providers of one run note which resource manages or adopts what, so that none of them deletes what another one adopts. Set " +
      "XDG_CACHE_HOME to an existing folder in which only you can write, on a disk that is not full",
  );
}

/**
 * Returns the claims on the record that were made by other live processes of this deployment, by
 * owner.
 */
export function claimsOfOtherProcesses(id: string): Map<string, RecordClaim> {
  const claims = new Map<string, RecordClaim>();
  if (deployment === undefined) return claims;
  for (const [standing, claimed, owner = "", ...reason] of FOLDERS.flatMap((parts) => linesOfOthers(parts, id))) {
    if (claimed !== id) continue;
    if (standing === "released") claims.delete(owner);
    else claims.set(owner, parseClaim(standing, reason.join(" ")));
  }
  return claims;
}

/**
 * Parses a claim. A line may be cut off or come from another version, but it always counts as a
 * claim.
 */
function parseClaim(standing: string | undefined, reason: string): RecordClaim {
  if (standing !== "wanted" && standing !== "failed") return { standing: "held", reason: "" };
  try {
    return { standing, reason: String(JSON.parse(reason)) };
  } catch {
    return { standing, reason: "" };
  }
}

/**
 * Returns the lines that name the record. Files that do not contain the id are skipped without
 * splitting them, because that would take time and most files do not contain it.
 */
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

function pidOf(file: string): number {
  return Number(file.slice(file.lastIndexOf(".") + 1));
}
