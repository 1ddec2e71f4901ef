import { pollUntil, sleep } from "../contract/clock";
import { LIST_CAP, LIST_LAG_MS } from "../contract/limits";
import {
  BusinessRuleError,
  CodedError,
  EmptyListError,
  InUseError,
  NotFoundError,
  ServiceFaultError,
  UnexpectedResponseError,
} from "../errors/errors";
import type { Attempt } from "../transport/call";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import { findOrProveAbsent, lookAfterDeletion } from "./absence";
import type { KnownSettings } from "./calls";
import { sendDeletion } from "./changeRecord";
import type { Collection, Writable } from "./collection";
import type { Kind, Listed, NamedRecord } from "./listed";
import { readAfterWrites, readSharedWith } from "./reads";
import { completeList } from "./wholeList";

/** The progress of a deletion that is waiting. */
export interface DeletionWait {
  /** The time since the deletion began, in milliseconds. */
  readonly elapsedMs: number;
  /** The reason for the wait: RunPod's own message, or that the record is still in the list. */
  readonly reason: string;
}

/** The options of `delete`. */
export interface DeleteUnusedOptions extends RequestOptions {
  /**
   * How long RunPod may take to accept the deletion, in milliseconds (> 0). RunPod rejects the
   * deletion while something uses the record, and for up to two minutes after that.
   * @default 300,000
   */
  readonly releaseTimeoutMs?: number | undefined;
  /** Called before each wait. */
  readonly onWait?: ((wait: DeletionWait) => void) | undefined;
  /** Called once, right before the first request to delete the record. */
  readonly onDelete?: (() => void) | undefined;
  /**
   * Called before anything is sent if the list does not contain the record. If the callback throws
   * an error, the deletion ends with that error. Without this callback, an absent record counts as
   * deleted.
   */
  readonly onAbsent?: (() => void) | undefined;
  /**
   * The settings as you last knew them, including the name. They matter if a list contains no
   * records at all, which proves nothing, because a failing service also returns such a list. If
   * the settings are given, the deletion is sent anyway, and RunPod's response shows whether the
   * record existed.
   * @default none: such a deletion fails with `EmptyListError`
   */
  readonly known?: KnownSettings | undefined;
}

/** The uses of a record, according to the account's lists. */
interface Usage {
  /** The records that use it, such as `endpoint "llama" (abc)`. */
  readonly users: readonly string[];
  /** The reason why there may be additional users. */
  readonly doubt?: string | undefined;
}

/** A kind of use that prevents a deletion. */
export interface DeletionRule<T extends NamedRecord> {
  readonly usageOf: (record: T, options: ObservedOptions) => Promise<Usage>;
  /** How to release the record. In messages, this text follows "It is in use: …". */
  readonly remedy: string;
}

/** Describes how one kind of record uses another. */
interface Use<T extends NamedRecord, User extends NamedRecord> {
  /** Returns `true` if `user` uses the record. */
  readonly isUser: (user: User, record: T) => boolean;
  /**
   * `true` if the service is known to reject the deletion of a record that is in use. In that case,
   * the deletion is sent even if the list of users is incomplete.
   * @default false
   */
  readonly isRefusedByService?: true;
  /** See `DeletionRule`. */
  readonly remedy: string;
}

/** Returns the rule that no record in `users` may use the record to be deleted. */
export function unusedBy<T extends NamedRecord, User extends NamedRecord>(
  users: Collection<User>,
  { isUser, isRefusedByService, remedy }: Use<T, User>,
): DeletionRule<T> {
  return {
    remedy,
    async usageOf(record, options) {
      const shown = await readAfterWrites(users, options);
      const usersIn = ({ records }: Listed<User>) =>
        records.filter((each) => isUser(each, record)).map(({ name, id }) => `${users.kind.noun} "${name}" (${id})`);
      if (isRefusedByService || usersIn(shown).length > 0) return { users: usersIn(shown) };
      const whole = await completeList(users, shown, options, { sentAfter: shown.sentAt });
      return { users: usersIn(whole), doubt: doubtIn(users.kind, whole) };
    },
  };
}

/** Returns the reason why a list does not prove that the record is unused. */
function doubtIn<User extends NamedRecord>(
  { noun }: Kind,
  { unreadable: [odd], mayBeCut }: Listed<User>,
): string | undefined {
  if (odd) {
    const { id = "without an id", problem } = odd;
    return `${noun} ${id} cannot be read, because its record has an unexpected shape: ${problem}. Check it at the service`;
  }
  if (!mayBeCut) return undefined;
  return (
    `the list of ${noun}s has ${LIST_CAP} records or more. The service may show only the ${LIST_CAP} oldest, and not all ` +
    `others can be read. Use a key that REST v2 accepts, or delete ${noun}s that you do not need`
  );
}

const DEFAULT_TIMEOUT_MS = 300_000;
/** The time limit of a read after an abort, in milliseconds. */
const AFTER_ABORT_MS = 10_000;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Deletes a record that nothing uses, and verifies that it is gone. Every step can be repeated, so
 * if the deletion is interrupted at any point, another deletion completes it.
 * @throws InUseError at once if something uses the record
 * @throws DELETE_TIMEOUT if RunPod does not accept the deletion in time
 */
export async function deleteUnused<T extends NamedRecord>(
  collection: Writable<T, never>,
  id: string,
  rules: readonly DeletionRule<T>[],
  options: DeleteUnusedOptions & ObservedOptions = {},
): Promise<void> {
  const leave = collection.list.join();
  return untilGone(collection, id, rules, options).finally(leave);
}

async function untilGone<T extends NamedRecord>(
  collection: Writable<T, never>,
  id: string,
  rules: readonly DeletionRule<T>[],
  {
    releaseTimeoutMs = DEFAULT_TIMEOUT_MS,
    onWait,
    onDelete,
    onAbsent,
    known,
    ...options
  }: DeleteUnusedOptions & ObservedOptions,
): Promise<void> {
  const { calls, clock, kind, list } = collection;
  const startedAt = clock.monotonic();
  const rest = (wait: Promise<void>) => list.rest(wait);
  const shared = await readSharedWith(collection, id, options);
  const looking = findOrProveAbsent(collection, shared, id, options, { onMissing: onAbsent, rest });
  const record = await looking.catch((error: unknown) => {
    const isEmpty = error instanceof EmptyListError;
    // By now, the name may belong to another record.
    if (!isEmpty || calls.deletesByName || known?.name === undefined) throw error;
    return { ...known, id } as NamedRecord as T;
  });
  if (!record) return;
  let present = record;
  let obstacle = "";
  /**
   * Looks for the record after the service has accepted its deletion. A list may still show the
   * record, so if it does, looks again later.
   */
  const lookTwice = async () => {
    const { signal, ...others } = options;
    const isAborted = signal?.aborted ?? false;
    const limits = isAborted ? { ...others, timeoutMs: AFTER_ABORT_MS } : options;
    if (!(await lookAfterDeletion(collection, id, limits)).record) return undefined;
    await rest(sleep(clock, LIST_LAG_MS, options.signal));
    return (await lookAfterDeletion(collection, id, options)).record;
  };
  const lookAgain = async () =>
    findOrProveAbsent(collection, await list.read({ gathers: true }, options), id, options, { rest });
  await pollUntil({
    clock,
    signal: options.signal,
    firstPauseMs: FIRST_PAUSE_MS,
    longestPauseMs: LONGEST_PAUSE_MS,
    timeoutMs: releaseTimeoutMs,
    startedAt: () => startedAt,
    rest,
    async step() {
      for (const rule of rules) await refuseUsed(collection, present, rule, options);
      if (obstacle === "") onDelete?.();
      const refusal = await refusalOf(collection, present, options);
      obstacle = refusal ?? "the service accepted its deletion, but still lists it";
      const left = await (refusal === undefined ? lookTwice() : lookAgain());
      if (!left) return true;
      present = left;
      return undefined;
    },
    onPause: (elapsedMs) => onWait?.({ elapsedMs, reason: obstacle }),
    onTimeout: () => deleteTimeout(kind.noun, present, releaseTimeoutMs, obstacle),
  });
}

/**
 * Throws an error if a record is or may be in use, unless it turns out to be unused once the list's
 * lag has passed.
 */
async function refuseUsed<T extends NamedRecord>(
  { clock, list, kind: { noun } }: Collection<T>,
  record: T,
  { usageOf, remedy }: DeletionRule<T>,
  options: ObservedOptions,
): Promise<void> {
  const isUnused = ({ users, doubt }: Usage) => users.length === 0 && doubt === undefined;
  if (isUnused(await usageOf(record, options))) return;
  await list.rest(sleep(clock, LIST_LAG_MS, options.signal));
  const usage = await usageOf(record, options);
  if (isUnused(usage)) return;
  const refusal = `${noun} ${record.id} ("${record.name}") is not deleted, because`;
  if (usage.users.length > 0) throw new InUseError(`${refusal} it is in use by ${usage.users.join(", ")}. ${remedy}`);
  throw new UnexpectedResponseError(
    `${refusal} it may be in use: ${usage.doubt}. After that, delete the ${noun} again. If you are sure that nothing uses ` +
      "it, you can also delete it in the service's console",
  );
}

/**
 * Sends the deletion. Returns the reason if the service rejects it, or `undefined` if it is
 * accepted.
 */
async function refusalOf<T extends NamedRecord>(
  collection: Writable<T, never>,
  record: T,
  options: ObservedOptions,
): Promise<string | undefined> {
  const { calls, kind } = collection;
  const { id, name } = record;
  const operation = `the deletion of ${kind.noun} ${id} ("${name}")`;
  const attempt = (each: Attempt) => calls.delete(operation, record, each);
  try {
    await sendDeletion(collection, { name: calls.names.delete, operation, attempt }, [id, name], options);
    return undefined;
  } catch (error) {
    // Only the list shows whether the record is gone. The response doesn't, because it refers to
    // the record as it was before.
    if (error instanceof NotFoundError) return undefined;
    if (error instanceof BusinessRuleError || error instanceof ServiceFaultError) return error.message;
    throw error;
  }
}

function deleteTimeout(noun: string, { id, name }: NamedRecord, timeoutMs: number, obstacle: string): CodedError {
  return new CodedError(
    "DELETE_TIMEOUT",
    `${noun} ${id} ("${name}") was not deleted within ${Math.round(timeoutMs / 1000)} s: ${obstacle}. It still exists. ` +
      "Find what uses it (such as a pod), or wait, then delete it again",
  );
}
