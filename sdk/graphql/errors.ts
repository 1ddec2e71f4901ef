import * as z from "zod";
import {
  AuthenticationError,
  BusinessRuleError,
  NotFoundError,
  QuotaExceededError,
  RejectedError,
  type ServerlessGpuError,
  ServiceFaultError,
  UnexpectedResponseError,
} from "../errors/errors";
import { redactBeginning } from "../errors/secretText";
import { quotaAdvice } from "../transport/responseErrors";

const errorSchema = z.object({
  message: z.string(),
  path: z
    .array(z.union([z.string(), z.number()]))
    .optional()
    .catch(undefined),
  extensions: z
    .object({ code: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/**
 * The body of a response, which contains `data`, `errors`, or both. `errors: null` is not an error,
 * although graphql-request rejects it.
 */
export const envelopeSchema = z.object({
  data: z
    .looseObject({})
    .nullish()
    .transform((data) => data ?? null),
  errors: z
    .array(errorSchema)
    .nullish()
    .transform((errors) => errors ?? []),
});

/** The parts of a GraphQL error that decide what it means. */
interface ShownError {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions?: { readonly code?: unknown } | undefined;
}

type GraphqlErrors = z.infer<typeof envelopeSchema>["errors"];

/** A field of a record that the service cannot return. */
export interface BrokenField {
  /** The record: its index in the list, or its alias. */
  readonly record: string | number;
  readonly field: string;
  /** The message from the service. */
  readonly said: string;
}

/** Returns the alias of the record with this index in a query that reads several records. */
export function aliasOf(index: number): string {
  return `a${index}`;
}

/**
 * Thrown when the service cannot return a field of one of the records of a query, such as a
 * fractional number that GraphQL declares as an Int. Another attempt would fail in the same way.
 */
export class BrokenFieldError extends UnexpectedResponseError {
  readonly #data: Record<string, unknown> | null;
  readonly #fields: readonly BrokenField[];

  constructor(operation: string, fields: readonly BrokenField[], data: Record<string, unknown> | null) {
    const each = fields.map(
      ({ record, field, said }) => `${field} of record ${record} ("${redactBeginning(said, LONGEST_SAID)}")`,
    );
    super(`${operation}: the service cannot return the field ${each.join(", ")}`);
    this.#fields = fields;
    this.#data = data;
  }

  /** The fields that are broken. */
  get fields(): readonly BrokenField[] {
    return this.#fields;
  }

  /** The values of the root fields, as far as the service returned them. May contain secrets. */
  get data(): Record<string, unknown> | null {
    return this.#data;
  }
}

/**
 * Returns the broken fields if all errors are about fields of records. The path of such an error
 * names the record and then the field.
 */
export function brokenFields(errors: readonly ShownError[]): BrokenField[] {
  const found = errors.flatMap(({ message, path = [], extensions }) => {
    const at = path.findIndex((part) => typeof part === "number" || /^a\d+$/.test(part));
    const [record, field] = path.slice(at, at + 2);
    const isBroken = at >= 0 && typeof field === "string" && extensions?.code === "INTERNAL_SERVER_ERROR";
    return isBroken && record !== undefined ? [{ record, field, said: message }] : [];
  });
  return found.length === errors.length ? found : [];
}

export function errorsIn(body: string): GraphqlErrors | undefined {
  try {
    return envelopeSchema.parse(JSON.parse(body)).errors;
  } catch {
    return undefined;
  }
}

/** The maximum length of a quotation from the service in a message, in characters. */
export const LONGEST_SAID = 1_000;

/** Matches the name of a field in the error message for an invalid document. */
const REFUSED_FIELD = /\bfield ["'`](\w+)["'`]/gi;

/** Returns the error for an invalid document, including the fields that its messages name. */
function rejected(said: string, errors: readonly { readonly message: string }[]): RejectedError {
  const error = new RejectedError(said);
  const fields = errors.flatMap(({ message }) => [...message.matchAll(REFUSED_FIELD)].map(([, field = ""]) => field));
  // This keeps the property out of the output of `console.error`.
  return Object.defineProperty(error, "refusedFields", { value: fields });
}

/** Matches the messages that services use when something does not exist. */
const ABSENT = /not found|does not exist|could not find|nonexistent/i;

/**
 * Matches the message that a data center is not available. Although it contains words of `ABSENT`,
 * it does not mean that a record does not exist.
 */
const DATA_CENTER = /^data center/i;

/**
 * Returns the typed error for an `errors` list. If no specific error matches, the result is a
 * business rule error for status 200 and a rejected request for status 400. Codes are checked
 * before messages, and messages are searched for words rather than compared as a whole.
 */
export function errorFromGraphql(
  errors: readonly ShownError[],
  operation: string,
  isBusinessRule: boolean,
): ServerlessGpuError {
  const message = errors.map((error) => error.message).join("; ");
  const codes = errors.map((error) => error.extensions?.code);
  const said = `${operation}: the service says "${redactBeginning(message, LONGEST_SAID)}"`;
  // Quoted parts, such as an endpoint's name, come from the user.
  const ownWords = message.replace(/"[^"]*"|'[^']*'|`[^`]*`/g, "");
  if (/unauthorized|unauthenticated|forbidden/i.test(`${codes.join(" ")} ${ownWords}`)) {
    return new AuthenticationError(`${said}. Check that the API key is right and has permission`);
  }
  if (codes.includes("INTERNAL_SERVER_ERROR")) return new ServiceFaultError(`${said}. Try again later`);
  if (ABSENT.test(ownWords) && !DATA_CENTER.test(ownWords))
    return new NotFoundError(`${said}. The requested record does not exist in this account`);
  if (/quota/i.test(ownWords)) {
    return new QuotaExceededError(`${said}. ${quotaAdvice}`);
  }
  return isBusinessRule ? new BusinessRuleError(said) : rejected(said, errors);
}
