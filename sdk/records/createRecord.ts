import { sleep } from "../contract/clock";
import { ABSENCE_LAG_MS, LIST_CAP, LIST_LAG_MS } from "../contract/limits";
import { BusinessRuleError, CreateUncertainError, ServerlessGpuError } from "../errors/errors";
import type { Attempt } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import { type Collection, rememberWrite, type Writable } from "./collection";
import { isSameName, type Listed, type NamedRecord, newRecords, refuseUnreadableNamesake } from "./listed";
import type { OperationTime } from "./operationTime";
import { CREATE_LIST_MAX_AGE_MS, readShared } from "./reads";
import type { ListFreshness } from "./sharedList";
import { withHidden } from "./wholeList";

/** The options of `create`. */
export interface CreateRecordOptions<T> extends RequestOptions {
  /**
   * Called if records with the new name already exist. The callback may throw an error, or return
   * one of these records, which `create` then returns. Without this callback, or if it returns
   * `undefined`, another record is created.
   */
  readonly onNameTaken?: ((existing: readonly T[]) => T | undefined) | undefined;
  /**
   * Called after the create if other records then have the same name, because someone else created
   * them at the same moment. The check sends one more list request. If several creates run at the
   * same time, the last one checks for all of them, so this may be called after this create has
   * ended. As long as the list does not show the created records, it is read again after 5 and 15
   * seconds.
   * @default duplicates are not checked
   */
  readonly onDuplicates?: ((created: T, others: readonly T[]) => void) | undefined;
}

/** A record to create. */
export interface Creation<T, Settings extends { readonly name: string }> {
  readonly settings: Settings;
  /** Returns `true` for a record that the request may have created. */
  readonly isSame: (record: T) => boolean;
  /**
   * Completes a record that was found after a lost response.
   * @default a record that exists is complete
   */
  readonly complete?: ((found: T, options: ObservedOptions) => Promise<T>) | undefined;
}

/**
 * Reads the list and creates the record. If the response is lost, reads the list again, so that a
 * second record is never created.
 */
export async function createRecord<T extends NamedRecord, Settings extends { readonly name: string }>(
  collection: Writable<T, Settings, never>,
  creation: Creation<T, Settings>,
  { onNameTaken, ...options }: Omit<CreateRecordOptions<T>, "onDuplicates"> & ObservedOptions,
  time: OperationTime,
): Promise<T> {
  const { kind, list, calls } = collection;
  const { settings } = creation;
  const { name } = settings;
  // The same API operation may both create and change records.
  const verb = calls.names.create === calls.names.change ? `${calls.names.create} (create)` : calls.names.create;
  const operation = `${verb} of "${name}"`;
  const whole = (list: Listed<T>, freshness?: ListFreshness) => withHidden(collection, list, name, options, freshness);
  const shared = await readShared(collection, name, options, 1, CREATE_LIST_MAX_AGE_MS);
  // The two lists are of about the same age.
  let before = await whole(shared, { sentAfter: shared.sentAt, despiteWrites: true });
  if (onNameTaken) {
    const namesakesIn = (list: Listed<T>) => {
      const named = list.named?.(name) ?? list;
      refuseUnreadableNamesake(kind, named, name);
      return named.records.filter((each) => isSameName(kind, each.name, name));
    };
    let namesakes = namesakesIn(before);
    if (namesakes.length > 0) {
      // A shared list may be slightly out of date, so read a new list. The name may belong to a
      // record that no longer exists, and must not be refused in that case.
      const now = await whole(await list.read({}, options));
      namesakes = namesakesIn(now);
      before = { ...now, records: now.records, unreadable: [...before.unreadable, ...now.unreadable] };
    }
    const taken = namesakes.length > 0 ? onNameTaken(namesakes) : undefined;
    if (taken) return taken;
  }
  let wasLost = false;
  const lookUp = async () => {
    wasLost = true;
    try {
      const found = await findCreated(collection, { ...creation, operation, before, whole, time }, options);
      return found && creation.complete ? await creation.complete(found, options) : found;
    } catch (error) {
      throw time.signal.aborted && error === time.signal.reason && error instanceof ServerlessGpuError
        ? uncertainInTime(kind, operation, name, error)
        : error;
    }
  };
  let created: T | undefined;
  try {
    const retry = { ...collection.retry, maxElapsedMs: Math.max(1, time.leftMs()) };
    created = await makeCall(
      { ...collection, retry },
      {
        ...options,
        name: calls.names.create,
        operation,
        repeatability: "create",
        attempt: (each: Attempt) => calls.create(operation, settings, each),
        lookUp,
      },
    );
    return created;
  } catch (error) {
    // After a lost response, a rejection of the next request (because of the name, for example) may
    // mean that the first request took effect after all.
    const found = wasLost && error instanceof BusinessRuleError ? await lookUp() : undefined;
    if (!found) throw error;
    created = found;
    return found;
  } finally {
    rememberWrite(collection, created?.id, name);
  }
}

/** A create whose response was lost. */
interface LostCreate<T extends NamedRecord> extends Creation<T, { readonly name: string }> {
  readonly operation: string;
  /** The records that existed before the create. */
  readonly before: Listed<T>;
  /** Returns the list, completed with the records that are missing because the list is cut off. */
  readonly whole: (list: Listed<T>) => Promise<Listed<T>>;
  readonly time: OperationTime;
}

/**
 * Returns the record that a create whose response was lost has created. Returns `undefined` if it
 * created no record, which means that no list shows a new record for as long as lists may lag.
 * @throws CreateUncertainError if there is no way to find out
 */
async function findCreated<T extends NamedRecord>(
  collection: Collection<T>,
  lost: LostCreate<T>,
  options: ObservedOptions,
): Promise<T | undefined> {
  const { clock, kind } = collection;
  const { operation, before, time } = lost;
  const lostAt = clock.monotonic();
  for (const lagMs of [LIST_LAG_MS, ABSENCE_LAG_MS]) {
    const waitMs = Math.max(0, lostAt + lagMs - clock.monotonic());
    const isTooLong = waitMs >= time.leftMs();
    if (!isTooLong) await sleep(clock, waitMs, options.signal);
    const { candidates, mayBeCut } = await lookForNew(collection, lost, options);
    const ids = candidates.map(({ id }) => id);
    if (before.mayBeCut || (mayBeCut && ids.length === 0)) throw uncertainInCutList(kind, operation, ids);
    if (ids.length > 1) {
      throw new CreateUncertainError(
        `${operation}: no response arrived, and several new ${kind.noun}s could be it: ${ids.join(", ")}. ` +
          "Some of them may belong to other runs. Adopt the one that is yours, and delete only those that nobody else manages",
        ids,
      );
    }
    if (candidates[0]) return candidates[0];
    // This list may be too old to show the record, and there is no time to wait for a newer list.
    if (isTooLong) throw uncertainInTime(kind, operation, lost.settings.name);
  }
  return undefined;
}

/** Returns the new records that a create whose response was lost may have created. */
async function lookForNew<T extends NamedRecord>(
  { kind, list }: Collection<T>,
  { operation, settings: { name }, isSame, before, whole }: LostCreate<T>,
  options: ObservedOptions,
): Promise<{ readonly candidates: readonly T[]; readonly mayBeCut: boolean | undefined }> {
  try {
    const now = await whole(await list.read({}, options));
    const created = newRecords(kind, before, now, name);
    return { candidates: created.filter((each) => each.name === name && isSame(each)), mayBeCut: now.mayBeCut };
  } catch (cause) {
    if (!(cause instanceof ServerlessGpuError) || cause === options.signal?.reason) throw cause;
    throw new CreateUncertainError(
      `${operation}: no response arrived, and the list that would show the new ${kind.noun} cannot be read: ${cause.message}. ` +
        `The ${kind.noun} may exist. Look for it in the service's console before you create it again`,
      [],
      { cause },
    );
  }
}

/**
 * Returns the error for a create whose response was lost, if there is no time left to find out
 * whether it took effect.
 */
function uncertainInTime(
  { noun, one }: { readonly noun: string; readonly one: string },
  operation: string,
  name: string,
  cause?: ServerlessGpuError,
): CreateUncertainError {
  return new CreateUncertainError(
    [
      `${operation}: no response arrived, and there was no time left to check: ${one} named "${name}" may exist, or appear ` +
        "later. The create was not repeated.",
      `Wait ${ABSENCE_LAG_MS / 1000} s, then look for "${name}" in the list of ${noun}s or in the service's console. If a new ` +
        "one is there, adopt it or delete it. If not, create it again. A longer retry.maxElapsedMs leaves time for this check",
    ].join("\n"),
    [],
    { cause },
  );
}

/**
 * Returns the error for a create whose response was lost, if the list is cut off and therefore
 * cannot show whether the create took effect. The create is not sent again.
 */
function uncertainInCutList(
  { noun }: { readonly noun: string },
  operation: string,
  ids: readonly string[],
): CreateUncertainError {
  const found = ids.length === 0 ? "" : ` Look at ${ids.join(", ")} first.`;
  return new CreateUncertainError(
    [
      `${operation}: no response arrived, and the list that would show the ${noun} may be cut off after ${LIST_CAP} records. ` +
        `REST v2, which lists all of them, cannot be used. The ${noun} may exist. The create was not repeated.`,
      `Look for the name in the service's console, where the newest come first.${found} If a new one is there, adopt it or ` +
        "delete it, then try again",
    ].join("\n"),
    ids,
  );
}
