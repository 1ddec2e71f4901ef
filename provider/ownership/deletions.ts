import { sleep, systemClock } from "../../sdk/contract/clock";

/*
 * `destroy` deletes the resources of a record, if it has two, at the same time. The former one must
 * wait for the one that has adopted the record: only that one's deletion ends the adoption.
 */

/** How long to wait for another deletion to begin, in milliseconds. */
const BEGIN_MS = 1_000;
const PAUSE_MS = 50;

/** The deletions that this process is running, by the id of the record. */
const running = new Map<string, Promise<unknown>>();

/** The ids of the records that this process has deleted. */
const deleted = new Set<string>();

/**
 * Runs the deletion of a record for the resource that has it, and keeps track of it.
 */
export async function noteDeletion<T>(id: string, work: () => Promise<T>): Promise<T> {
  const deletion = work();
  running.set(id, deletion);
  try {
    const result = await deletion;
    deleted.add(id);
    return result;
  } finally {
    if (running.get(id) === deletion) running.delete(id);
  }
}

/**
 * Waits for another resource's deletion of the record if this process is running that deletion or
 * is about to start it.
 */
export async function afterOtherDeletion(id: string): Promise<void> {
  for (let ms = 0; ms < BEGIN_MS && !running.has(id); ms += PAUSE_MS) await sleep(systemClock, PAUSE_MS);
  await running.get(id)?.catch(() => undefined);
}

/** Returns `true` if this process has deleted the record, for another resource that also has it. */
export function isDeletedHere(id: string): boolean {
  return deleted.has(id);
}
