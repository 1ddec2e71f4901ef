import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { RecordClass } from "../../provider/engine/resourceTypes";
import { nounOf } from "./records";
import { backendsOf, type KnownStack, readPulumi, type StateFlags } from "./states";

/** A younger record, in milliseconds, may belong to a run that is still in progress. */
const SETTLED_AFTER_MS = 3_600_000;

const FILE = "file://";

interface ListedStack {
  readonly name: string;
  readonly updateInProgress?: boolean;
}

/**
 * Checks that no run is changing a stack, as far as the backend shows: Pulumi Cloud in its stack
 * list, and a folder in its lock files.
 * @throws Error if a run is in progress, or if a backend cannot be read
 */
export async function requireNoRun(flags: StateFlags): Promise<void> {
  const [running] = (await Promise.all(backendsOf(flags).map(busyStacks))).flat();
  if (running === undefined) return;
  throw new Error(
    `a run is changing stack ${running}, and may not have recorded yet what it created. Nothing was deleted. Wait until ` +
      `it ends. If it was killed, release its lock: pulumi cancel --stack ${running}`,
  );
}

/** Returns the names of the stacks that a run is currently changing. */
async function busyStacks(place: string | undefined): Promise<string[]> {
  const listed = await readPulumi<readonly ListedStack[]>(["stack", "ls", "--all", "--json"], place);
  const { url } = await readPulumi<{ readonly url: string }>(["whoami", "--verbose", "--json"], place);
  const busy = listed.flatMap(({ name, updateInProgress }) => (updateInProgress ? [name] : []));
  return url.startsWith(FILE) ? [...busy, ...(await lockedStacks(url))] : busy;
}

/** Returns the names of the stacks that have a lock file in a folder backend. */
async function lockedStacks(url: string): Promise<string[]> {
  const [given = ""] = url.slice(FILE.length).split("?");
  const folder = path.join(path.resolve(given.replace(/^~/, os.homedir())), ".pulumi");
  if (!existsSync(folder)) throw new Error(`the backend ${url} has no folder ${folder}. Nothing was deleted`);
  const locks = path.join(folder, "locks");
  if (!existsSync(locks)) return [];
  const files = await readdir(locks, { recursive: true });
  return files.filter((file) => file.endsWith(".json")).map((file) => path.dirname(file).split(path.sep).join("/"));
}

/**
 * Checks that no unfinished run could still add the record to a state. Runs record a create in the
 * state before they begin it.
 * @param record.createdAt when the record was created (ISO 8601), if known
 * @param haveEnded `true` if the user says that there is no such run
 * @throws Error if such a run is possible
 */
export function requireNoUnrecorded(
  { type, id, createdAt }: { type: RecordClass; id: string; createdAt?: string | undefined },
  stacks: readonly KnownStack[],
  haveEnded: boolean,
): void {
  const noun = nounOf({ type });
  for (const { name, unfinished } of stacks) {
    const urn = unfinished.find((each) => each.split("::")[2]?.endsWith(`:${type}`));
    if (urn === undefined) continue;
    throw new Error(
      `stack ${name} has a pending create of ${urn}, so ${noun} ${id} may be what that run created. If no run is active, clear ` +
        `the pending create with pulumi refresh --stack ${name} --clear-pending-creates, and repeat the command. Nothing was ` +
        "deleted",
    );
  }
  const age = Date.now() - Date.parse(createdAt ?? "");
  if (haveEnded || age >= SETTLED_AFTER_MS) return;
  const known = Number.isNaN(age) ? `the age of ${noun} ${id} is not known` : `${noun} ${id} is less than an hour old`;
  throw new Error(
    `${known}, so a run that is still active may have created it, and not have recorded it yet. Make sure that there is no ` +
      "such run, and repeat the command with --runs-have-ended. Nothing was deleted",
  );
}
