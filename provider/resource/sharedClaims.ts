import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { engineAddress } from "../exitWithEngine";

/*
 * The provider processes of one deployment tell each other what their resources claim: a file for each process, with
 * a line for each claim. Claims can only prevent deletions, so errors here are ignored.
 */

const FOLDER = path.join(
  process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"),
  "pulumi-serverless-gpu",
  "claims",
);

/** The beginning of the names of this deployment's files; `undefined` without an engine. A name ends with the process. */
const deployment = engineAddress(process.argv)?.replace(/[^\w.]/g, "-");

let isPrepared = false;

/** Makes the folder, and removes the files of processes that have ended. */
function prepareFolder(): void {
  mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
  for (const file of readdirSync(FOLDER)) if (!isAlive(pidOf(file))) rmSync(path.join(FOLDER, file), { force: true });
  isPrepared = true;
}

/** Adds (`+`) or takes back (`-`) a claim. */
export function shareClaim(sign: "+" | "-", id: string, owner: string): void {
  if (deployment === undefined) return;
  try {
    if (!isPrepared) prepareFolder();
    appendFileSync(path.join(FOLDER, `${deployment}.${process.pid}`), `${sign} ${id} ${owner}\n`, { mode: 0o600 });
  } catch {}
}

/** Returns the owners that claim the object in other processes of this deployment that are still alive. */
export function claimsOfOtherProcesses(id: string): Set<string> {
  const owners = new Set<string>();
  if (deployment === undefined) return owners;
  try {
    const files = readdirSync(FOLDER).filter(
      (file) => file.startsWith(`${deployment}.`) && pidOf(file) !== process.pid && isAlive(pidOf(file)),
    );
    const lines = files.flatMap((file) => readFileSync(path.join(FOLDER, file), "utf8").split("\n"));
    for (const [sign, claimed, owner = ""] of lines.map((line) => line.split(" "))) {
      if (claimed !== id) continue;
      if (sign === "+") owners.add(owner);
      else owners.delete(owner);
    }
  } catch {}
  return owners;
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
