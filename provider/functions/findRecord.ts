import { sleep, systemClock } from "../../sdk/contract/clock";
import { LIST_CAP, LIST_LAG_MS } from "../../sdk/contract/limits";
import { InvalidInputError, NotFoundError } from "../../sdk/errors/errors";
import type { Listed, NamedRecord } from "../../sdk/records/listed";

/** Selects a record by its id or by its exact name. */
export type RecordSelector =
  | {
      /** The id of the record. */
      readonly id: string;
      /** Cannot be set together with `id`. */
      readonly name?: undefined;
    }
  | {
      /** Cannot be set together with `name`. */
      readonly id?: undefined;
      /** The exact name of the record. It must be unique among the records of this kind. */
      readonly name: string;
    };

/** The part of the client that finds records of one kind. */
interface Source<T extends NamedRecord> {
  get(id: string): Promise<T>;
  listReadable(): Promise<Listed<T>>;
}

/** Returns the record without the client's notes about the response. */
function asShown<T extends NamedRecord>({ unshown: _, ...record }: T): T {
  return record as unknown as T;
}

/**
 * Returns the record with the given id, or the only record with the given name. If a name is not
 * found, it is looked up again after the list's lag has passed.
 * @param call name of the function, for messages
 * @throws NotFoundError if there is no such record
 * @throws InvalidInputError if several records have the name; the message lists their ids
 */
export async function findSelected<T extends NamedRecord>(
  call: string,
  source: Source<T>,
  { id, name }: { readonly id?: string | undefined; readonly name?: string | undefined },
  isWanted: (record: T) => boolean = () => true,
): Promise<T> {
  requireOne(call, { id, name });
  if (id !== undefined) return asShown(await source.get(id));
  const look = async () => {
    const { records, unreadable, mayBeCut } = await source.listReadable();
    const hidden = unreadable.find((each) => each.name === undefined || each.name === name);
    return { named: records.filter((each) => each.name === name && isWanted(each)), hidden, mayBeCut };
  };
  const found = await lookTwice(look, ({ named }) => named.length > 0);
  const [only] = found.named;
  if (!only && found.hidden) {
    throw new NotFoundError(
      `${call}: no record named "${name}" was found, but one record in the list cannot be read: ${found.hidden.problem}. ` +
        "Check it at the service",
    );
  }
  if (!only) {
    throw new NotFoundError(
      `${call}: nothing${shownBy(found.mayBeCut)} is named "${name}". Check the name, its case and the API key`,
    );
  }
  if (found.named.length === 1) return asShown(only);
  const ids = found.named.map((each) => each.id).join(", ");
  const message = `${found.named.length} have the name "${name}": ${ids}. Select one by its id`;
  throw new InvalidInputError(call, [{ property: "name", message }]);
}

/**
 * Returns the part of a "no such name" message that says that the list may be cut off, or an empty
 * string.
 */
export function shownBy(mayBeCut: boolean | undefined): string {
  return mayBeCut ? ` of the ${LIST_CAP} oldest records, which are all that the service shows,` : "";
}

/** @throws InvalidInputError unless exactly one of `id` and `name` is set */
export function requireOne(call: string, { id, name }: { readonly id?: unknown; readonly name?: unknown }): void {
  if ((id === undefined) !== (name === undefined)) return;
  throw new InvalidInputError(call, [{ property: "id", message: "set either id or name" }]);
}

/** Looks once. If nothing was found, looks again after the list's lag has passed. */
export async function lookTwice<T>(look: () => Promise<T>, isFound: (seen: T) => boolean): Promise<T> {
  const seen = await look();
  if (isFound(seen)) return seen;
  await sleep(systemClock, LIST_LAG_MS);
  return look();
}
