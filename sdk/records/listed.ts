import * as z from "zod";
import { NameTakenError, UnexpectedResponseError } from "../errors/errors";
import { decode, schemaProblems } from "../transport/decode";
import type { ShownRecord } from "./fields";

/** The fields that every record has. */
export interface NamedRecord extends ShownRecord {
  /** The id that the service assigned to the record. */
  readonly id: string;
  /** The name of the record. */
  readonly name: string;
}

/** A kind of record that the service stores, such as endpoints or templates. */
export interface Kind {
  /** The term for one record in messages, such as `template`. */
  readonly noun: string;
  /** The same term with its article, such as `a template`. */
  readonly one: string;
  /** `true` if the service rejects a name that another record already has. */
  readonly hasUniqueNames?: true;
  /** `true` if the service treats names that differ only in case as the same name. */
  readonly ignoresCase?: true;
  /** Converts a name to a common form if the service uses several forms of the same name. */
  readonly normalizeName?: (name: string) => string;
}

/** A kind of record, with the schema of its records in the responses of one API. */
export interface ReadableKind<T extends NamedRecord> extends Kind {
  readonly schema: z.ZodType<T>;
}

/** Returns `true` if the service treats both names as the same name. */
export function isSameName({ ignoresCase }: Pick<Kind, "ignoresCase">, one: unknown, other: string): boolean {
  if (!ignoresCase || typeof one !== "string") return one === other;
  return one.toLowerCase() === other.toLowerCase();
}

/** A record in a list that does not have the expected shape. It may belong to someone else. */
export interface UnreadableRecord {
  /** The id of the record, if it has one. */
  readonly id?: string | undefined;
  /** The name of the record, if it has one. */
  readonly name?: string | undefined;
  /** A description of the problem with the record. */
  readonly problem: string;
}

/**
 * A list whose records are parsed separately, so that one unreadable record does not affect the
 * others.
 */
export interface Listed<T> {
  /** The records that could be parsed. */
  readonly records: readonly T[];
  /** The known parts of the records that could not be read. */
  readonly unreadable: readonly UnreadableRecord[];
  /**
   * `true` if the account may have more records, because the list is as long as the longest list
   * that the service returns.
   * @default false
   */
  readonly mayBeCut?: boolean | undefined;
  /** The number of records, whether readable or not. @default unknown */
  readonly length?: number | undefined;
  /**
   * The ids of records of another kind that were also looked up in this request and do not exist.
   * @default nothing is known about them
   * @internal
   */
  readonly absent?: ReadonlySet<string> | undefined;
  /**
   * Returns the part of the list that decides whether the list contains the record with this id.
   * This part consists of the records with this id and the records without an id.
   * @internal
   */
  readonly about?: (id: string) => Listed<T>;
  /**
   * Returns the part of the list that decides whether the list contains records with this name.
   * This part consists of the records with this name and the records without a name.
   * @internal
   */
  readonly named?: (name: string) => Listed<T>;
}

const arraySchema = z.array(z.unknown());

/**
 * Reads the records of a kind from the response. Records are parsed only when they are needed,
 * because a create or a deletion, for example, needs only the records with one name or id.
 * @param cap the number of records from which the list may be cut off
 * @throws UnexpectedResponseError if the response does not contain a list
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
  const part = (isWanted: (record: unknown) => boolean) => known ?? readAll(kind, sent.filter(isWanted));
  return {
    get records() {
      return all().records;
    },
    get unreadable() {
      return all().unreadable;
    },
    mayBeCut: sent.length >= cap,
    length: sent.length,
    about: (id) => part((each) => [undefined, id].includes(idOf(each))),
    named: (name) => part((each) => isSameName(kind, nameOf(kind, each) ?? name, name)),
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
    unreadable.push({ id: idOf(record), name: nameOf(kind, record), problem: schemaProblems(result.error) });
  }
  return { records, unreadable };
}

/** Returns the id of a record as it was received, or `undefined` if it has none. */
function idOf(record: unknown): string | undefined {
  const id = typeof record === "object" && record !== null && "id" in record ? record.id : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** Returns the name of a record, or `undefined` if it has none. */
function nameOf({ normalizeName }: Kind, record: unknown): string | undefined {
  const name = typeof record === "object" && record !== null && "name" in record ? record.name : undefined;
  return typeof name === "string" ? (normalizeName?.(name) ?? name) : undefined;
}

/** Returns the name of a list for messages. */
export function listOf({ noun }: Pick<Kind, "noun">): string {
  return `the list of ${noun}s`;
}

/**
 * Returns the record with this id, or `undefined` if the list proves that there is none.
 * @throws UnexpectedResponseError if the record cannot be read, or if a listed record without an id
 * could be the record
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
 * @throws UnexpectedResponseError if a record with this name cannot be read, or if none is found
 * and the list contains a record without a name
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
 * Throws an error if a record in the list cannot be read, because the list is then incomplete.
 * @throws UnexpectedResponseError if a record cannot be read; names the first such record
 */
export function refuseUnreadable<T extends NamedRecord>(kind: Kind, { unreadable }: Listed<T>): void {
  const [first] = unreadable;
  if (first) throw unreadableError(kind, `${unreadable.length} of the records cannot be read`, first);
}

/**
 * Throws an error if a record that cannot be read has this name.
 * @throws NameTakenError if there is such a record
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
    `${kind.one} named "${name}" already exists (${namesake.id ?? "without an id"}), and its record cannot be read: ` +
      `${namesake.problem}. Nothing was created. Check that ${kind.noun}, and choose another name`,
    namesakes.flatMap(({ id }) => id ?? []),
  );
}

/**
 * Returns the records that are in `after` but not in `before`.
 * @throws UnexpectedResponseError if a record that cannot be read may be a new record with this
 * name
 */
export function newRecords<T extends NamedRecord>(kind: Kind, before: Listed<T>, after: Listed<T>, name: string): T[] {
  const knownIds = new Set([...before.records, ...before.unreadable].map(({ id }) => id));
  // A record without an id may be a different record in each list.
  const isNew = ({ id }: { readonly id?: string | undefined }) => id === undefined || !knownIds.has(id);
  const suspect = after.unreadable.find((each) => isNew(each) && (each.name === undefined || each.name === name));
  if (suspect) throw unreadableError(kind, `one of the records may be the new ${kind.noun} "${name}"`, suspect);
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
