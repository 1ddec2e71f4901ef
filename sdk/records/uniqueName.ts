import { BusinessRuleError, NameTakenError } from "../errors/errors";
import { type ObservedOptions, requestOptions } from "../transport/requestOptions";
import type { Collection } from "./collection";
import { isSameName, type NamedRecord } from "./listed";
import { withHidden } from "./wholeList";

/** Matches the messages with which services reject a name that is already taken. */
const TAKEN = /must be unique|already exists|already in use|already taken/i;

/**
 * Returns a clearer error if the service rejected a name that must be unique. The error says which
 * record of the account has the name. Other errors are returned unchanged.
 */
export async function explainTakenName<T extends NamedRecord>(
  error: unknown,
  collection: Collection<T>,
  name: string,
  options: ObservedOptions,
): Promise<unknown> {
  if (!(error instanceof BusinessRuleError) || !TAKEN.test(error.message)) return error;
  const { kind, list } = collection;
  const look = async () => withHidden(collection, await list.read({}, requestOptions(options)), name, options);
  const listed = await look().catch(() => undefined);
  const { records = [], unreadable = [], mayBeCut } = listed ?? {};
  const ids = [...records, ...unreadable].flatMap((each) => (isSameName(kind, each.name, name) && each.id) || []);
  if (ids.length > 0) return nameTaken(kind, name, ids);
  const reason =
    listed && !mayBeCut
      ? `, although no ${kind.noun} of this account has it: another account may use it`
      : `: another account may use it, or a ${kind.noun} that the list does not show`;
  return new NameTakenError(
    `the service rejects the name "${name}" for ${kind.one}${reason}. The name may also still be reserved for a deleted ${kind.noun}. ` +
      "Nothing was changed. Choose another name",
    [],
  );
}

/** Returns the error for a name that other records of the account already have. */
export function nameTaken(kind: { readonly one: string }, name: string, ids: readonly string[]): NameTakenError {
  return new NameTakenError(
    `${kind.one} named "${name}" already exists: ${ids.join(", ")}. Nothing was changed. Choose another name`,
    ids,
  );
}
