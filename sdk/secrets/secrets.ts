import * as z from "zod";
import type { Endpoint } from "../endpoints/record";
import { DELETE_OPTIONS, SAVE_OPTIONS } from "../records/callOptions";
import type { RecordCalls } from "../records/calls";
import { changeRecord } from "../records/changeRecord";
import { type Collection, createCollection, type SaveOptions } from "../records/collection";
import type { CreateRecordOptions } from "../records/createRecord";
import { type DeleteUnusedOptions, deleteUnused, unusedBy } from "../records/deleteUnused";
import type { Readers } from "../records/readers";
import { recordOperations } from "../records/records";
import type { Template } from "../templates/template";
import type { CallContext } from "../transport/call";
import type { ResponsePromise } from "../transport/responsePromise";
import { SECRET_CHECKS } from "./input";
import {
  refersTo,
  SECRET,
  type SecretChanges,
  type SecretInput,
  type SecretRecord,
  type SecretSettings,
} from "./secret";

/**
 * Creates, changes, lists and deletes secrets. Environment variables of templates and endpoints can
 * refer to them. The service never returns the value of a secret.
 */
export interface Secrets extends Readers<SecretRecord> {
  /**
   * Creates a secret. If the response is lost, checks whether the secret was created before trying
   * again. If it was created, writes the value once more.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws NameTakenError if a secret with this name exists, ignoring case; nothing was changed
   * @throws CreateUncertainError if the client cannot tell whether the secret was created
   */
  create(input: SecretInput, options?: CreateRecordOptions<SecretRecord>): ResponsePromise<SecretRecord>;
  /**
   * Writes the value, then the description. If this fails, repeat the call, because one of the two
   * may not have been written yet. Workers get a new value when they next start.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws NotFoundError if the secret does not exist
   */
  update(id: string, changes: SecretChanges, options?: SaveOptions<SecretRecord>): ResponsePromise<SecretRecord>;
  /**
   * Deletes a secret and verifies that it is gone. A secret that does not exist counts as deleted.
   * @throws InUseError immediately if an environment variable of a template or, over REST v2, of an
   * endpoint refers to the secret, because its workers could no longer start
   * @throws UnexpectedResponseError if the client cannot tell whether the secret is in use
   * @throws DELETE_TIMEOUT if the service does not accept the deletion within `releaseTimeoutMs`
   */
  delete(id: string, options?: DeleteUnusedOptions): ResponsePromise<void>;
}

/** The requests for secrets. */
export type SecretCalls = RecordCalls<SecretRecord, SecretSettings, Partial<SecretSettings>>;

/**
 * Returns the schema of a secret. `timeOfValue` is the name of the field that contains the time of
 * the value's last write. `timeOfChange` is the name of a field that is read if the service does
 * not show that time, and that contains the time of the secret's last change.
 */
export function secretSchema(timeOfValue: string, timeOfChange?: string): z.ZodType<SecretRecord> {
  const text = z.string().nullish();
  const shown = { id: z.string().min(1), name: z.string(), description: text, createdAt: text };
  return z.looseObject(shown).transform((record) => {
    const { id, name, description, createdAt } = record;
    const created = inIso(createdAt);
    const written = inIso(record[timeOfValue]);
    const changed = timeOfChange === undefined || written !== "" ? "" : inIso(record[timeOfChange]);
    return {
      id,
      name,
      description: description ?? "",
      createdAt: created,
      valueLastUpdatedAt: written || changed || created,
      ...(changed !== "" && { isTimeOfAnyChange: true as const }),
    };
  });
}

/** Returns a time in a uniform format, because APIs may write the same time differently. */
function inIso(time: unknown): string {
  const ms = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString();
}

/** How long the service may take to accept a deletion, in milliseconds. */
const DELETE_TIMEOUT_MS = 60_000;

const REMEDY = "Its workers could no longer start. Remove the variable, then delete the secret again";

/**
 * Returns the functions that read and write the secrets of one account. `templates` may refer to
 * them, and so may those `endpoints` that have their own container.
 */
export function createSecrets(
  context: CallContext,
  calls: SecretCalls,
  templates: Collection<Template>,
  endpoints: Collection<Endpoint> | undefined,
): Secrets {
  const secrets = createCollection(context, SECRET, calls);
  const rules = [
    ...(endpoints ? [unusedBy(endpoints, { isUser, remedy: REMEDY })] : []),
    unusedBy(templates, { isUser, remedy: REMEDY }),
  ];
  return recordOperations(secrets, {
    ...SECRET_CHECKS,
    merge: ({ description: before }, { value, description }) => {
      const isDescribed = description !== undefined && description !== before;
      if (value === undefined && !isDescribed) return undefined;
      return { ...(value !== undefined && { value }), ...(isDescribed && { description }) };
    },
    isSame: ({ description }, wanted) => description === wanted.description,
    // The service may have failed after creating the record but before writing the value, so write
    // the value again.
    complete: (found, { value }, options) => changeRecord(secrets, found, { value }, options),
    delete: (id, options) => deleteUnused(secrets, id, rules, { releaseTimeoutMs: DELETE_TIMEOUT_MS, ...options }),
    updateOptions: SAVE_OPTIONS,
    deleteOptions: DELETE_OPTIONS,
  });
}

function isUser({ env }: { readonly env: Readonly<Record<string, string>> }, { name }: SecretRecord): boolean {
  return Object.values(env).some((value) => refersTo(name, value));
}
