import { types } from "node:util";
import { type InputProblem, InvalidInputError } from "../errors/errors";
import { nearestWord } from "../errors/nearestWord";
import { headerProblems, type RequestOptions } from "./requestOptions";

/**
 * Returns the problems with an option's value. Not called for `undefined`, which is the default of
 * every option.
 */
type OptionCheck = (value: unknown, name: string) => readonly InputProblem[];

/** A check for the value of each option of a call. It is a compile error to leave out an option. */
export type OptionChecks<Options> = Readonly<Record<keyof Options, OptionCheck>>;

const NO_PROBLEMS: readonly InputProblem[] = [];

/** The maximum length of an option's name in a message, in characters. */
const LONGEST_NAME = 50;

/**
 * Creates a check from a rule. `message` does not show the value, because the value may be a
 * secret.
 */
export function optionCheck(isValid: (value: unknown) => boolean, message: string): OptionCheck {
  return (value, name) => (isValid(value) ? NO_PROBLEMS : [{ property: name, message }]);
}

/** Returns `true` if a value has a method with this name. */
export function hasMethod(value: unknown, name: string): boolean {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  return isObject && typeof (value as Record<string, unknown>)[name] === "function";
}

function isStandardSchema(value: unknown): boolean {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  return isObject && hasMethod((value as Record<string, unknown>)["~standard"], "validate");
}

export const anyValue: OptionCheck = () => NO_PROBLEMS;
export const aFunction = optionCheck((value) => typeof value === "function", "must be a function");
export const aBoolean = optionCheck((value) => typeof value === "boolean", "must be true or false");
export const aString = optionCheck((value) => typeof value === "string", "must be a string");
export const anObject = optionCheck(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be an object",
);
export const aDate = optionCheck(
  (value) => types.isDate(value) && !Number.isNaN(value.getTime()),
  "must be a valid Date",
);
export const anAbortSignal = optionCheck(
  (value) => hasMethod(value, "addEventListener") && hasMethod(value, "throwIfAborted"),
  "must be an AbortSignal, such as the signal of an AbortController",
);
export const aSchema = optionCheck(
  (value) => hasMethod(value, "parse") || isStandardSchema(value),
  "must be a Standard Schema, such as a schema of zod, valibot or arktype, or an object with the method parse",
);
export const positiveMs = optionCheck(
  (value) => typeof value === "number" && value > 0,
  "must be a number of milliseconds > 0",
);

/** Accepts a time of at least `min` milliseconds. */
export const msFrom = (min: number) =>
  optionCheck((value) => typeof value === "number" && value >= min, `must be a number of milliseconds ≥ ${min}`);

/** Accepts a whole number of milliseconds within a range. */
export const wholeMs = ({ min, max }: { readonly min: number; readonly max: number }) =>
  optionCheck(
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
    `must be a whole number of milliseconds from ${min} to ${max}`,
  );

/** Accepts a whole number that is at least `min`. */
export const wholeFrom = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  optionCheck(
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
    max === Number.MAX_SAFE_INTEGER
      ? `must be a whole number ≥ ${min}`
      : `must be a whole number from ${min} to ${max}`,
  );

/** Accepts one of the words. */
export const oneOfWords = (...words: readonly string[]) =>
  optionCheck((value) => words.includes(value as string), `must be ${words.map((word) => `"${word}"`).join(" or ")}`);

/** The options that every call accepts. */
export const REQUEST_OPTIONS: OptionChecks<RequestOptions> = {
  timeoutMs: positiveMs,
  maxRetries: wholeFrom(0),
  signal: anAbortSignal,
  headers: headerProblems,
};

/**
 * Checks the options of a call.
 * @param what the name of the options in the error
 * @throws InvalidInputError with every problem
 */
export function checkCallOptions<Options>(
  options: Options | undefined,
  checks: OptionChecks<Options>,
  what = "the call",
): void {
  const error = optionsError(options, checks, what);
  if (error) throw error;
}

/** Returns the error for a call's options, or `undefined` if they are valid. */
export function optionsError<Options>(
  options: Options | undefined,
  checks: OptionChecks<Options>,
  what = "the call",
): InvalidInputError | undefined {
  if (options === undefined) return undefined;
  if (anObject(options, "").length > 0) {
    const message = `must be an object with ${Object.keys(checks).join(", ")}`;
    return new InvalidInputError(what, [{ property: "options", message }]);
  }
  const problems = problemsOfOptions(options, checks, unknownOption);
  return problems && new InvalidInputError(what, problems);
}

/**
 * Returns the problems with options, or `undefined` if there are none.
 * @param unknown returns the problem for an option that does not exist
 */
export function problemsOfOptions<Options>(
  options: Options,
  checks: OptionChecks<Options>,
  unknown: (name: string, known: readonly string[]) => InputProblem,
): InputProblem[] | undefined {
  const known: Readonly<Record<string, OptionCheck>> = checks;
  let problems: InputProblem[] | undefined;
  // Include inherited names. Otherwise, an AbortSignal that was passed instead of the options would
  // go unnoticed, because it has no other names.
  for (const name in options) {
    const checkValue = Object.hasOwn(known, name) ? known[name] : undefined;
    let found = NO_PROBLEMS;
    if (checkValue) found = valueProblems(checkValue, name, options[name]);
    // Ignore properties that all objects have, because a library may have added them.
    else if (!(name in Object.prototype)) found = [unknown(name, Object.keys(known))];
    if (found.length > 0) problems = [...(problems ?? []), ...found];
  }
  return problems;
}

function valueProblems(checkValue: OptionCheck, name: string, value: unknown): readonly InputProblem[] {
  return value === undefined ? NO_PROBLEMS : checkValue(value, name);
}

function unknownOption(name: string, known: readonly string[]): InputProblem {
  const shown = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
  const near = nearestWord(shown, known);
  const hint = near ? `: did you mean ${near}?` : `: the options are ${known.join(", ")}`;
  return { property: JSON.stringify(shown), message: `is not an option${hint}` };
}
