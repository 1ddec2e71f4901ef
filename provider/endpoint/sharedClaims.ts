import { appendFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { engineAddress } from "../exitWithEngine";

/*
 * The provider processes of one deployment tell each other what their resources claim: a file for each process, in a
 * folder for each engine, with a line for each claim. Claims can only prevent deletions, so errors here are ignored.
 */

const folder = folderOf(engineAddress(process.argv));

function folderOf(engine: string | undefined): string | undefined {
  if (engine === undefined) return undefined;
  return path.join(tmpdir(), `serverless-gpu-${userInfo().uid}`, engine.replace(/[^\w.]/g, "-"));
}

/** Adds (`+`) or takes back (`-`) a claim. */
export function shareClaim(sign: "+" | "-", id: string, owner: string): void {
  if (folder === undefined) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    appendFileSync(path.join(folder, String(process.pid)), `${sign} ${id} ${owner}\n`, { mode: 0o600 });
  } catch {}
}

/** Returns the owners that claim the endpoint in other processes of this deployment that are still alive. */
export function claimsOfOtherProcesses(id: string): Set<string> {
  const owners = new Set<string>();
  if (folder === undefined) return owners;
  try {
    const files = readdirSync(folder).filter((pid) => pid !== String(process.pid) && isAlive(Number(pid)));
    const lines = files.flatMap((pid) => readFileSync(path.join(folder, pid), "utf8").split("\n"));
    for (const [sign, claimed, owner = ""] of lines.map((line) => line.split(" "))) {
      if (claimed !== id) continue;
      if (sign === "+") owners.add(owner);
      else owners.delete(owner);
    }
  } catch {}
  return owners;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
