import type { Attempt, ServiceCall } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import type { ObservedOptions } from "../transport/requestOptions";
import { type Collection, rememberWrite, type Writable } from "./collection";
import type { NamedRecord } from "./listed";

/** Applies the changes to a record. `before` is the record as it was read. */
export function changeRecord<T extends NamedRecord, Changes extends { readonly name?: string | undefined }>(
  collection: Writable<T, never, Changes>,
  before: T,
  changes: Changes,
  options: ObservedOptions,
): Promise<T> {
  const { calls } = collection;
  const name = calls.names.change;
  const operation = `${name} of "${before.name}" (${before.id})`;
  const attempt = (each: Attempt) => calls.change(operation, before, changes, each);
  // Not all kinds of records can be renamed.
  const { name: newName = before.name } = changes;
  return sendWrite(collection, { name, operation, attempt }, [before.id, newName], options);
}

/**
 * How long a deletion that was sent is awaited after the caller has aborted, in milliseconds.
 * Without this, a cancelled run would not know whether the record still exists.
 */
const AWAITED_AFTER_ABORT_MS = 10_000;

/** Sends a deletion, and awaits it for a while even if the caller aborts. */
export function sendDeletion<T extends NamedRecord, Result>(
  collection: Collection<T>,
  call: Pick<ServiceCall<Result>, "name" | "operation" | "attempt">,
  idsAndNames: readonly string[],
  options: ObservedOptions,
): Promise<Result> {
  return sendWrite(collection, { ...call, keepsAttempt: AWAITED_AFTER_ABORT_MS }, idsAndNames, options);
}

/** Sends a write that can safely be repeated, and remembers it for these ids and names. */
export async function sendWrite<T extends NamedRecord, Result>(
  collection: Collection<T>,
  call: Pick<ServiceCall<Result>, "name" | "operation" | "attempt" | "keepsAttempt">,
  idsAndNames: readonly string[],
  options: ObservedOptions,
): Promise<Result> {
  try {
    return await makeCall(collection, { ...options, ...call, repeatability: "safe" });
  } finally {
    rememberWrite(collection, ...idsAndNames);
  }
}
