import * as z from "zod";
import { type InputProblem, InvalidInputError } from "../errors/errors";
import { nearestWord } from "../errors/nearestWord";
import { hideJobSecret, redact } from "../errors/secretText";
import { type AnyField, defaultsOf, type FieldTable, NEVER_CHANGES, NO_SUCH_PROPERTY, requiredFields } from "./fields";
import type { Kind } from "./listed";

/**
 * The schemas of the values that inputs may contain, by field. Parsing a value also converts it to
 * normal form.
 */
export type FieldSchemas = Readonly<Record<string, z.ZodType>>;

/** Builds the schema for fields of one type. */
export type TypeSchema = (field: AnyField) => z.ZodType;

/** The largest integer that GraphQL can carry. */
const LARGEST_INTEGER = 2 ** 31 - 1;

/** The types that the fields of every kind of record can have. Ids are trimmed. */
const COMMON_TYPES: Readonly<Record<string, TypeSchema>> = {
  text: textSchema,
  id: textSchema,
  word: ({ mustBe, pattern = /./, default: byDefault }) =>
    z
      .string(must(mustBe))
      .trim()
      .refine((value) => value === byDefault || pattern.test(value), must(mustBe)),
  enum: ({ words = [], mustBe }) => oneOf(words, mustBe),
  "whole number": ({ mustBe, min = 0, max = LARGEST_INTEGER }) => {
    const message = must(mustBe);
    return z.number(message).int(message).min(min, message).max(max, message);
  },
  boolean: ({ mustBe }) => z.boolean(must(mustBe)),
  "positive number": ({ mustBe }) => z.number(must(mustBe)).positive(must(mustBe)),
};

/**
 * Returns the schemas for the fields of a table. `types` are the types that only this table has.
 * Reuse the result, because building schemas takes many times longer than using them.
 */
export function fieldSchemas(table: FieldTable, types: Readonly<Record<string, TypeSchema>> = {}): FieldSchemas {
  const known = { ...COMMON_TYPES, ...types };
  const entries = Object.entries(table).map(([name, field]) => {
    const build = known[field.type];
    if (!build) throw new TypeError(`there is no schema for the type ${field.type}`);
    const schema = build(field);
    const { default: byDefault } = field;
    return [name, byDefault === undefined ? schema : schema.nullable().transform((value) => value ?? byDefault)];
  });
  return Object.fromEntries(entries);
}

function textSchema({ type, mustBe, normalize = (same) => same, default: byDefault }: AnyField): z.ZodType {
  const message = must(mustBe);
  const schema = z.string(message).transform((value) => normalize(type === "id" ? value.trim() : value));
  return byDefault === undefined ? schema.refine((value) => String(value).trim() !== "", message) : schema;
}

/** Returns a problem for each required field that is missing. */
export function missingFields(table: FieldTable, fields: Readonly<Record<string, unknown>>): InputProblem[] {
  const missing = requiredFields(table).filter((property) => fields[property] === undefined);
  return missing.map((property) => ({ property, message: "is required" }));
}

/** Matches an unpaired surrogate, which neither JSON nor GraphQL can carry unchanged. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/** Returns the valid fields in normal form, and the problems with all other fields. */
export function checkFields(
  schemas: FieldSchemas,
  input: Readonly<Record<string, unknown>>,
): { fields: Record<string, unknown>; problems: InputProblem[] } {
  const fields: Record<string, unknown> = {};
  const problems: InputProblem[] = [];
  for (const [property, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(schemas, property)) {
      problems.push({ property, message: noSuchProperty(property, Object.keys(schemas)) });
      continue;
    }
    const result = schemas[property]?.safeParse(value);
    if (!result?.success) {
      const messages = new Set(result?.error.issues.map(({ message }) => message));
      problems.push(...[...messages].map((message) => ({ property, message })));
    } else if (holdsHalfCharacter(result.data)) {
      problems.push({ property, message: "is not valid Unicode: it contains an unpaired surrogate" });
    } else fields[property] = result.data;
  }
  return { fields, problems };
}

/**
 * Checks the fields of a new record, or some of the fields of an existing record, and returns them
 * in normal form.
 * @throws InvalidInputError that lists every problem
 */
export function parseFields(
  what: string,
  table: FieldTable,
  schemas: FieldSchemas,
  input: object,
  isNew: boolean,
): Record<string, unknown> {
  const { fields, problems } = checkFields(schemas, { ...input });
  // A field with a problem is not missing, so don't report it as missing as well.
  if (isNew) problems.push(...missingFields(table, { ...input, ...fields }));
  if (problems.length > 0) throw new InvalidInputError(what, problems);
  return fields;
}

/** The validation rules of a kind that are not in its table of fields. */
interface CheckRules {
  /** The schemas of types that only this kind has. @default none */
  readonly types?: Readonly<Record<string, TypeSchema>>;
  /** The field whose value is hidden in all messages. @default none */
  readonly hidden?: string;
  /**
   * `true` if a change must set every field that can change. @default a change may set any of them
   */
  readonly changesAll?: true;
}

/** Validates the inputs of a kind. */
export interface InputChecks<Input, Settings, ChangesInput, Changes> {
  /** Returns the valid fields in normal form, and the problems with all other fields. */
  readonly check: (input: Readonly<Record<string, unknown>>) => ReturnType<typeof checkFields>;
  /**
   * Returns the settings of a new record in normal form.
   * @throws InvalidInputError that lists every problem
   */
  readonly parse: (input: Input) => Settings;
  /**
   * Returns changes in normal form.
   * @throws InvalidInputError that lists every problem
   */
  readonly parseChanges: (id: string, changes: ChangesInput) => Changes;
}

/** Returns the functions that validate the inputs of a kind, based on its table of fields. */
export function inputChecks<Input extends object, Settings, ChangesInput extends object, Changes = ChangesInput>(
  { noun }: Kind,
  table: FieldTable,
  { types, hidden = "", changesAll }: CheckRules = {},
): InputChecks<Input, Settings, ChangesInput, Changes> {
  const schemas = fieldSchemas(table, types);
  const changeable = Object.fromEntries(
    Object.entries(table).filter(([, { isFixed }]) => isFixed !== NEVER_CHANGES.isFixed),
  );
  const changeSchemas = Object.fromEntries(Object.entries(schemas).filter(([name]) => name in changeable));
  const hide = (input: object) => {
    const value = new Map(Object.entries(input)).get(hidden);
    if (typeof value === "string") hideJobSecret(value);
  };
  return {
    check(input) {
      hide(input);
      return checkFields(schemas, input);
    },
    parse(input) {
      hide(input);
      return { ...defaultsOf(table), ...parseFields(`the new ${noun}`, table, schemas, input, true) } as Settings;
    },
    parseChanges(id, changes) {
      hide(changes);
      return parseFields(
        `the change of ${noun} ${id}`,
        changeable,
        changeSchemas,
        changes,
        changesAll === true,
      ) as Changes;
    },
  };
}

function holdsHalfCharacter(value: unknown): boolean {
  if (typeof value === "string") return HALF_CHARACTER.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsHalfCharacter);
}

function oneOf(words: readonly string[], what: string) {
  return z.enum(words, {
    error: ({ input }) =>
      typeof input === "string" ? `${describe(input)} is not known. ${nearest(input, words)}` : `must be ${what}`,
  });
}

/** Returns a schema's error message, which contains the rule and the value. */
export function must(what: string) {
  return { error: ({ input }: { input?: unknown }) => `must be ${what}; it is ${describe(input)}` };
}

/** Formats a value for an error message. */
export function describe(value: unknown): string {
  if (typeof value === "string") {
    // Redact before shortening, because half a key would not be recognized.
    const shown = redact(value);
    return JSON.stringify(shown.length > 40 ? `${shown.slice(0, 40)}…` : shown);
  }
  if (value === null || value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" || typeof value === "function" ? "an object" : String(value);
}

/**
 * Returns the error message for a property that does not exist. The message follows the property's
 * name.
 */
export function noSuchProperty(property: string, allowed: readonly string[]): string {
  return `${NO_SUCH_PROPERTY}. ${nearest(property, allowed)}`;
}

/**
 * Returns a text that lists the allowed words and suggests the nearest word if it is similar
 * enough.
 */
export function nearest(word: string, allowed: readonly string[]): string {
  const match = nearestWord(word, allowed);
  return `${match === undefined ? "" : `Did you mean ${match}? `}Allowed: ${allowed.join(", ")}.`;
}
