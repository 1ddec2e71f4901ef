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
 * What a resource claims: a record that it has, that it will adopt, or that it has failed to adopt.
 */
export interface RecordClaim {
  readonly standing: "held" | "wanted" | "failed";
  /** The reason for `failed`; otherwise empty. */
  readonly reason: string;
}

/** The folders that may hold the files. The first usable one is used. */
const FOLDERS = candidateFolders("claims");

/** This deployment; `undefined` without an engine. */
const deployment = deploymentOf(engineAddress(process.argv));

/**
 * Returns the beginning of the names of a deployment's files. Each file name ends with the process
 * id.
 */
function deploymentOf(engine: string | undefined): string | undefined {
  return engine?.replace(/[^\w.]/g, "-").concat(`.${machine}`);
}

const prepared = new Set<string>();

/** The age at which another machine's file is removed, although its process may still run. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

/** Creates the folder, and removes the files of processes that have ended. */
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
 * Adds a claim, changes it, or takes it back (`undefined`).
 * @param engine the engine's address; only a program has to give it
 * @throws ConfigurationError if no folder can be used
 */
export function shareClaim(id: string, owner: string, claim: RecordClaim | undefined, engine?: string): void {
  const sharedIn = deploymentOf(engine) ?? deployment;
  if (sharedIn === undefined) return;
  for (const parts of FOLDERS) {
    try {
      const file = path.join(prepareFolder(parts), `${sharedIn}.${process.pid}`);
      // Starts with a line break, because a full disk may have cut the line before.
      const { standing, reason } = claim ?? { standing: "released", reason: "" };
      appendFileSync(file, `\n${standing} ${id} ${owner} ${JSON.stringify(reason)}`, { mode: 0o600 });
      return;
    } catch {}
  }
  throw new ConfigurationError(
    `neither ${FOLDERS.map((parts) => path.join(...parts)).join(" nor ")} can be written by you alone. There, providers of one ` +
      "run share which records the program has, so that none is deleted while another resource adopts it. Set " +
      "XDG_CACHE_HOME to a folder that exists, in which only you can write",
  );
}

/**
 * Returns the claims on the record, by owner, from other processes of this deployment that are
 * still alive.
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

/** A line may be cut, or be of another version. Whatever it says, there is a claim. */
function parseClaim(standing: string | undefined, reason: string): RecordClaim {
  if (standing !== "wanted" && standing !== "failed") return { standing: "held", reason: "" };
  try {
    return { standing, reason: String(JSON.parse(reason)) };
  } catch {
    return { standing, reason: "" };
  }
}

/**
 * Returns the lines that name the record. Most files have none, and splitting all of them takes
 * time.
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
