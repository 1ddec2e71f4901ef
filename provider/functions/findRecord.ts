import { sleep, systemClock } from "../../sdk/contract/clock";
import { LIST_CAP, LIST_LAG_MS } from "../../sdk/contract/limits";
import { InvalidInputError, NotFoundError } from "../../sdk/errors";
import type { Listed, NamedRecord } from "../../sdk/records/listed";

/** Selects a record by its id or by its exact name. */
export type RecordSelector =
  | {
      /** Id of the record. */
      readonly id: string;
      /** Not together with `id`. */
      readonly name?: undefined;
    }
  | {
      /** Not together with `name`. */
      readonly id?: undefined;
      /** Exact name of the record. Only one may have it. */
      readonly name: string;
    };

/** The part of the client that finds records of one kind. */
interface Source<T extends NamedRecord> {
  get(id: string): Promise<T>;
  listReadable(): Promise<Listed<T>>;
}

/**
 * Returns the record with the id, or the only one with the name. A name that is not found is looked
 * up once more after the list's lag.
 * @param call name of the function, for messages
 * @throws NotFoundError if there is none
 * @throws InvalidInputError if several have the name; it lists their ids
 */
export async function findSelected<T extends NamedRecord>(
  call: string,
  source: Source<T>,
  { id, name }: { readonly id?: string | undefined; readonly name?: string | undefined },
  isWanted: (record: T) => boolean = () => true,
): Promise<T> {
  requireOne(call, { id, name });
  if (id !== undefined) return source.get(id);
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
  if (found.named.length === 1) return only;
  const ids = found.named.map((each) => each.id).join(", ");
  const message = `${found.named.length} have the name "${name}": ${ids}. Select one by its id`;
  throw new InvalidInputError(call, [{ property: "name", message }]);
}

/** Completes a message about a name that no record has, when the list may be cut off. */
export function shownBy(mayBeCut: boolean | undefined): string {
  return mayBeCut ? ` of the ${LIST_CAP} oldest records, which are all that the service shows,` : "";
}

/** @throws InvalidInputError unless either the id or the name is set */
export function requireOne(call: string, { id, name }: { readonly id?: unknown; readonly name?: unknown }): void {
  if ((id === undefined) !== (name === undefined)) return;
  throw new InvalidInputError(call, [{ property: "id", message: "set either id or name" }]);
}

/** Looks, and if nothing was found, looks once more after the list's lag. */
export async function lookTwice<T>(look: () => Promise<T>, isFound: (seen: T) => boolean): Promise<T> {
  const seen = await look();
  if (isFound(seen)) return seen;
  await sleep(systemClock, LIST_LAG_MS);
  return look();
}
