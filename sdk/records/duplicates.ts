import { sleep, timeLimit } from "../contract/clock";
import type { ObservedOptions } from "../transport/requestOptions";
import { type Collection, noteWrite, type OnDuplicates } from "./collection";
import { isSameName, type NamedRecord } from "./listed";
import { withHidden } from "./wholeList";

/** How long a look for duplicates may take, in milliseconds: the records exist in any case. */
const LOOK_MS = 10_000;

/** How long the first of several creates waits at most for the look, in milliseconds. */
const LONGEST_WAIT_MS = 120_000;

/** How long a create waits at most for others to follow, in milliseconds: they look then. */
const FOLLOW_MS = 250;
const PAUSE_MS = 25;

/**
 * Creates a record, and looks once more for others with its name: two creates at the same moment do
 * not see each other in the list that they begin with, but the later one sees both in this list. Of
 * creates that run at the same time, the last one to end looks for all of them, so that several
 * hundred need one list. If it cannot be read, a warning says so.
 */
export async function withDuplicates<T extends NamedRecord>(
  collection: Collection<T>,
  onDuplicates: OnDuplicates<T> | undefined,
  options: ObservedOptions,
  create: () => Promise<T>,
): Promise<T> {
  if (!onDuplicates) return create();
  const { clock, duplicates } = collection;
  duplicates.running++;
  try {
    const record = await create();
    duplicates.created.push({ record, onDuplicates, at: clock.monotonic() });
    return record;
  } finally {
    duplicates.running--;
    const isAlone = duplicates.created.length === 1;
    for (let ms = 0; ms < FOLLOW_MS && duplicates.running === 0 && !isAlone; ms += PAUSE_MS) {
      await sleep(clock, PAUSE_MS);
    }
    const [first] = duplicates.created;
    const isDue = duplicates.running === 0 || (first && clock.monotonic() - first.at > LONGEST_WAIT_MS);
    if (first && isDue) await look(collection, options);
  }
}

async function look<T extends NamedRecord>(collection: Collection<T>, options: ObservedOptions): Promise<void> {
  const { kind, list, clock, warn, duplicates } = collection;
  const created = duplicates.created.splice(0);
  const inTime = timeLimit(clock, LOOK_MS, () => new Error("no response in time"), options.signal);
  const limited = { ...options, signal: inTime.signal };
  try {
    const shared = await list.read({}, limited);
    for (const { record, onDuplicates } of created) {
      const { id, name } = record;
      const { records } = await withHidden(collection, shared, name, limited, { sentAfter: shared.sentAt });
      const others = records.filter((each) => each.id !== id && isSameName(kind, each.name, name));
      if (others.length > 0) onDuplicates(record, others);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const names = created.map(({ record: { id, name } }) => `${id} ("${name}")`).join(", ");
    const what = created.length === 1 ? `${kind.noun} ${names} was` : `${created.length} ${kind.noun}s were`;
    warn?.(`${what} created, but a look for others with the same name failed: ${reason}`);
  } finally {
    inTime.release();
    // What follows reads lists of its own, as after every create.
    for (const { record } of created) noteWrite(collection, record.id, record.name);
  }
}
