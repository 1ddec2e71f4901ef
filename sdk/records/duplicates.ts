import { timeLimit } from "../contract/clock";
import type { ObservedOptions } from "../transport/requestOptions";
import { type Collection, noteWrite } from "./collection";
import { isSameName, type NamedRecord } from "./listed";
import { withHidden } from "./wholeList";

/** How long a look for duplicates may take, in milliseconds: the record exists in any case. */
const LOOK_MS = 10_000;

/** Called with the created record, and with the others that have its name. */
export type OnDuplicates<T> = (created: T, others: readonly T[]) => void;

/**
 * Creates a record, and looks once more for others with its name: two creates at the same moment do
 * not see each other in the list that they begin with, but the later one sees both in this list.
 * Creates that end at the same time share it. If it cannot be read, a warning says so.
 */
export async function withDuplicates<T extends NamedRecord>(
  collection: Collection<T>,
  onDuplicates: OnDuplicates<T> | undefined,
  options: ObservedOptions,
  create: () => Promise<T>,
): Promise<T> {
  if (!onDuplicates) return create();
  const { list, kind, clock, warn } = collection;
  const leave = list.join();
  try {
    const created = await create();
    const { id, name } = created;
    const inTime = timeLimit(clock, LOOK_MS, () => new Error("no response in time"), options.signal);
    const limited = { ...options, signal: inTime.signal };
    try {
      const shared = await list.read({ gathers: true }, limited);
      const { records } = await withHidden(collection, shared, name, limited, { sentAfter: shared.sentAt });
      const others = records.filter((each) => each.id !== id && isSameName(kind, each.name, name));
      if (others.length > 0) onDuplicates(created, others);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      warn?.(`${kind.noun} ${id} ("${name}") was created, but a look for others with its name failed: ${reason}`);
    } finally {
      inTime.release();
      // What follows reads lists of its own, as after every create.
      noteWrite(collection, id, name);
    }
    return created;
  } finally {
    leave();
  }
}
