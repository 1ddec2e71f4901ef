import * as z from "zod";
import { NameTakenError, UnexpectedResponseError } from "../errors";
import { decode, schemaProblems } from "../transport/decode";

/** The parts that every record has. */
export interface NamedRecord {
  /** Identifier that the service gave the record. */
  readonly id: string;
  /** Name of the record. */
  readonly name: string;
}

/** One kind of record that the service keeps, such as endpoints or templates. */
export interface Kind {
  /** What messages call one record, such as `template`. */
  readonly noun: string;
  /** The same with its article, such as `a template`. */
  readonly one: string;
  /** `true` if the service refuses a name that another record has. */
  readonly hasUniqueNames?: true;
  /** `true` if names that differ only in case are one name for the service. */
  readonly ignoresCase?: true;
  /** Returns one form for all the names that the service uses for one name. */
  readonly normalizeName?: (name: string) => string;
}

/** A kind with the schema of its records in the responses of one API. */
export interface ReadableKind<T extends NamedRecord> extends Kind {
  readonly schema: z.ZodType<T>;
}

/** Returns `true` if the service takes both names for one. */
export function isSameName({ ignoresCase }: Pick<Kind, "ignoresCase">, one: unknown, other: string): boolean {
  if (!ignoresCase || typeof one !== "string") return one === other;
  return one.toLowerCase() === other.toLowerCase();
}

/** A listed record without the expected shape. It may be somebody else's. */
export interface UnreadableRecord {
  /** Identifier of the record, if it has one. */
  readonly id?: string | undefined;
  /** Name of the record, if it has one. */
  readonly name?: string | undefined;
  /** Description of the problem with the record. */
  readonly problem: string;
}

/** A list, with each record read separately. */
export interface Listed<T> {
  /** The records that can be read. */
  readonly records: readonly T[];
  /** The known parts of the other records. */
  readonly unreadable: readonly UnreadableRecord[];
  /**
   * `true` if the account may have more records: the list is as long as the longest that the
   * service shows.
   * @default false
   */
  readonly mayBeCut?: boolean | undefined;
  /** Number of records, readable or not. @default unknown */
  readonly length?: number | undefined;
  /**
   * The ids of another kind of record that were asked about, and do not exist.
   * @default nothing is known about them
   * @internal
   */
  readonly absent?: ReadonlySet<string> | undefined;
  /**
   * Returns the part of the list that shows whether it has a record: the records with its id, and
   * those without an id.
   * @internal
   */
  readonly about?: (id: string) => Listed<T>;
}

const arraySchema = z.array(z.unknown());
const nameSchema = z.looseObject({ name: z.string() });

/**
 * Reads the list of an account. Its records are read when they are needed: a deletion needs one of
 * them.
 * @param cap the number of records from which the list may be cut off
 * @throws UnexpectedResponseError if there is no list
 */
export function decodeRecords<T extends NamedRecord>(
  kind: ReadableKind<T>,
  response: unknown,
  field: string,
  cap = Number.POSITIVE_INFINITY,
): Listed<T> {
  const sent = decode(z.looseObject({ [field]: arraySchema }), response, listOf(kind))[field] ?? [];
  let known: Listed<T> | undefined;
  const all = () => {
    known ??= readAll(kind, sent);
    return known;
  };
  return {
    get records() {
      return all().records;
    },
    get unreadable() {
      return all().unreadable;
    },
    mayBeCut: sent.length >= cap,
    length: sent.length,
    about: (id) =>
      readAll(
        kind,
        sent.filter((each) => [undefined, id].includes(idOf(each))),
      ),
  };
}

function readAll<T extends NamedRecord>(kind: ReadableKind<T>, sent: readonly unknown[]): Listed<T> {
  const records: T[] = [];
  const unreadable: UnreadableRecord[] = [];
  for (const record of sent) {
    const result = kind.schema.safeParse(record);
    if (result.success) {
      records.push(result.data);
      continue;
    }
    const name = nameSchema.safeParse(record).data?.name;
    const problem = schemaProblems(result.error);
    unreadable.push({ id: idOf(record), name: name && (kind.normalizeName?.(name) ?? name), problem });
  }
  return { records, unreadable };
}

/** Returns the id of a record as it was sent; `undefined` if it has none. */
function idOf(record: unknown): string | undefined {
  const id = typeof record === "object" && record !== null && "id" in record ? record.id : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** Names a list in messages. */
export function listOf({ noun }: Pick<Kind, "noun">): string {
  return `the list of ${noun}s`;
}

/**
 * Returns the record with this id, or `undefined` if the list proves that there is none.
 * @throws UnexpectedResponseError if it cannot be read, or if a record without an id might be it
 */
export function recordById<T extends NamedRecord>(kind: Kind, list: Listed<T>, id: string): T | undefined {
  const { records, unreadable } = list.about?.(id) ?? list;
  const found = records.find((each) => each.id === id);
  if (found) return found;
  const own = unreadable.find((each) => each.id === id);
  if (own) throw unreadableError(kind, `${kind.noun} ${id} exists, but its record cannot be read`, own);
  const nameless = unreadable.find((each) => each.id === undefined);
  if (!nameless) return undefined;
  const doubt = `cannot tell whether ${kind.noun} ${id} exists, because a record in the list has no id`;
  throw unreadableError(kind, doubt, nameless);
}

/**
 * Returns the records with this name.
 * @throws UnexpectedResponseError if one cannot be read, or if none is found and a record has no
 * name
 */
export function recordsByName<T extends NamedRecord>(
  kind: Kind,
  { records, unreadable }: Listed<T>,
  name: string,
): T[] {
  const found = records.filter((each) => each.name === name);
  const own = unreadable.find((each) => each.name === name);
  if (own) throw unreadableError(kind, `${kind.one} named "${name}" exists, but its record cannot be read`, own);
  const nameless = unreadable.find((each) => each.name === undefined);
  if (found.length > 0 || !nameless) return found;
  const doubt = `cannot tell whether ${kind.one} named "${name}" exists, because a record in the list has no name`;
  throw unreadableError(kind, doubt, nameless);
}

/**
 * Refuses an incomplete list.
 * @throws UnexpectedResponseError if a record cannot be read; names the first one
 */
export function refuseUnreadable<T extends NamedRecord>(kind: Kind, { unreadable }: Listed<T>): void {
  const [first] = unreadable;
  if (first) throw unreadableError(kind, `${unreadable.length} of the records cannot be read`, first);
}

/**
 * Refuses a name whose owner cannot be read.
 * @throws NameTakenError if a record that cannot be read has the name
 */
export function refuseUnreadableNamesake<T extends NamedRecord>(
  kind: Kind,
  { unreadable }: Listed<T>,
  name: string,
): void {
  const namesakes = unreadable.filter((each) => isSameName(kind, each.name, name));
  const [namesake] = namesakes;
  if (!namesake) return;
  throw new NameTakenError(
    `${kind.one} named "${name}" exists already (${namesake.id ?? "without an id"}), and its record cannot be read: ` +
      `${namesake.problem}. Nothing was created. Check that ${kind.noun}, and choose another name`,
    namesakes.flatMap(({ id }) => id ?? []),
  );
}

/**
 * Returns the records that are in `after` and not in `before`.
 * @throws UnexpectedResponseError if a record that cannot be read may be a new one with this name
 */
export function newRecords<T extends NamedRecord>(kind: Kind, before: Listed<T>, after: Listed<T>, name: string): T[] {
  const knownIds = new Set([...before.records, ...before.unreadable].map(({ id }) => id));
  // A record without an id may be a different one in the next list.
  const isNew = ({ id }: { readonly id?: string | undefined }) => id === undefined || !knownIds.has(id);
  const suspect = after.unreadable.find((each) => isNew(each) && (each.name === undefined || each.name === name));
  if (suspect) throw unreadableError(kind, `one of the records may be of the new ${kind.noun} "${name}"`, suspect);
  return after.records.filter(isNew);
}

function unreadableError(kind: Kind, what: string, { id, name, problem }: UnreadableRecord): UnexpectedResponseError {
  const named = name === undefined ? "" : ` ("${name}")`;
  const whose = id === undefined ? `a record without an id${named}` : `the record of ${id}${named}`;
  return new UnexpectedResponseError(
    `${listOf(kind)}: ${what}. The service's response has an unexpected shape in ${whose}: ${problem}. Check that ` +
      `${kind.noun} at the service. If it is valid there, update this package`,
  );
}
