import { sleep, timeLimit } from "../contract/clock";
import { ABSENCE_LAG_MS, LIST_LAG_MS } from "../contract/limits";
import type { ObservedOptions } from "../transport/requestOptions";
import { type Collection, type Duplicates, type OnDuplicates, rememberWrite } from "./collection";
import { isSameName, type Listed, type NamedRecord } from "./listed";
import { withHidden } from "./wholeList";

/**
 * The time limit of a check for duplicates, in milliseconds. It is short because the records have
 * already been created.
 */
const LOOK_MS = 10_000;

/**
 * The maximum time that the first of several creates waits for the check to run, in milliseconds.
 */
const LONGEST_WAIT_MS = 120_000;

/**
 * The maximum time that a create waits for more creates to start, in milliseconds. If more creates
 * start, they run the check.
 */
const FOLLOW_MS = 250;
const PAUSE_MS = 25;

/**
 * The longest time between the end of one create and the start of the next, in milliseconds, for
 * which both count as one series. The engine starts a create when it has recorded another one, so
 * that creates that take a few milliseconds rarely overlap.
 */
const LONGEST_GAP_MS = 2_000;

/**
 * Creates a record, then reads one more list to find other records with its name. Two creates at
 * the same moment don't see each other in the lists that they start with, but the later one sees
 * both records in this list. If several creates run at the same time, the last one to end checks
 * all of them, so that several hundred creates need only one list. If the list cannot be read, or
 * lags for too long, a warning is logged.
 */
export async function withDuplicates<T extends NamedRecord>(
  collection: Collection<T>,
  onDuplicates: OnDuplicates<T> | undefined,
  options: ObservedOptions,
  create: () => Promise<T>,
): Promise<T> {
  if (!onDuplicates) return create();
  const { clock, duplicates } = collection;
  const isFirst = clock.monotonic() - duplicates.lastEndAt > LONGEST_GAP_MS;
  duplicates.running++;
  duplicates.begun++;
  try {
    const record = await create();
    duplicates.created.push({ record, onDuplicates, at: clock.monotonic() });
    return record;
  } finally {
    duplicates.running--;
    duplicates.lastEndAt = clock.monotonic();
    const { begun } = duplicates;
    const isLast = () => duplicates.running === 0 && duplicates.begun === begun;
    // A create that runs alone does not wait.
    const isAlone = isFirst && duplicates.created.length === 1;
    for (let ms = 0; ms < FOLLOW_MS && isLast() && !isAlone; ms += PAUSE_MS) await sleep(clock, PAUSE_MS);
    const [first] = duplicates.created;
    const isDue = isLast() || (first && clock.monotonic() - first.at > LONGEST_WAIT_MS);
    if (first && isDue) await look(collection, options);
  }
}

/**
 * Checks all creates for duplicates. If a list does not show the created records, it lags behind
 * and may not show their duplicates either, so the list is read again.
 */
async function look<T extends NamedRecord>(collection: Collection<T>, options: ObservedOptions): Promise<void> {
  const { kind, clock, warn, duplicates } = collection;
  let left = duplicates.created.splice(0);
  const created = left.map(({ record }) => record);
  const lastAt = Math.max(...left.map(({ at }) => at));
  try {
    for (const lagMs of [0, LIST_LAG_MS, ABSENCE_LAG_MS]) {
      await sleep(clock, Math.max(0, lastAt + lagMs - clock.monotonic()), options.signal);
      left = await lookOnce(collection, left, options);
      if (left.length === 0) return;
    }
    throw new Error(`the list does not show ${left.length === 1 ? "it" : "them all"} yet`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const names = left.map(({ record: { id, name } }) => `${id} ("${name}")`).join(", ");
    const what = left.length === 1 ? `${kind.noun} ${names} was` : `${left.length} ${kind.noun}s were`;
    warn?.(`${what} created, but the search for others with the same name failed: ${reason}`);
  } finally {
    // Calls that follow read a new list, as they do after every create.
    for (const { id, name } of created) rememberWrite(collection, id, name);
  }
}

/** Reads a list once, and returns the creates that the list is too old to show. */
async function lookOnce<T extends NamedRecord>(
  collection: Collection<T>,
  created: Duplicates<T>["created"],
  options: ObservedOptions,
): Promise<Duplicates<T>["created"]> {
  const { kind, list, clock } = collection;
  const inTime = timeLimit(clock, LOOK_MS, () => new Error("no response in time"), options.signal);
  const limited = { ...options, signal: inTime.signal };
  const tooEarly: Duplicates<T>["created"] = [];
  try {
    const shared = await list.read({}, limited);
    for (const each of created) {
      const { id, name } = each.record;
      const whole = await withHidden(collection, shared, name, limited, { sentAfter: shared.sentAt });
      const named = whole.named?.(name) ?? whole;
      const others = named.records.filter((other) => other.id !== id && isSameName(kind, other.name, name));
      const isIn = ({ records, unreadable }: Listed<T>) => [...records, ...unreadable].some((one) => one.id === id);
      // Someone may have renamed the record since.
      const isShown = () => isIn(named) || isIn(whole.about?.(id) ?? whole);
      if (others.length > 0) each.onDuplicates(each.record, others);
      else if (!whole.mayBeCut && !isShown()) tooEarly.push(each);
    }
  } finally {
    inTime.release();
  }
  return tooEarly;
}
