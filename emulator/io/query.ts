/** Query parameters by name; `undefined` for those that are missing. */
type Parameters<Name extends string> = Readonly<Record<Name, string | undefined>>;

/**
 * Reads query parameters.
 * @throws TypeError that names each unknown, repeated or empty parameter
 */
export function readQuery<Name extends string>(query: URLSearchParams, names: readonly Name[]): Parameters<Name> {
  const given = [...query.keys()];
  const unknown = given.filter((name) => !(names as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new TypeError(
      `There is no query parameter "${unknown.join('", "')}". Known parameters: ${names.join(", ") || "none"}.`,
    );
  for (const name of names) {
    if (query.getAll(name).length > 1) throw new TypeError(`The query parameter "${name}" is given more than once.`);
    if (query.get(name) === "") throw new TypeError(`The query parameter "${name}" is empty. Leave it out, or set it.`);
  }
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined])) as Parameters<Name>;
}

/**
 * Returns a parameter that must be one of these words.
 * @throws TypeError that lists the words
 */
export function oneOf<Word extends string>(
  name: string,
  value: string | undefined,
  words: readonly Word[],
): Word | undefined {
  if (value === undefined || (words as readonly string[]).includes(value)) return value as Word | undefined;
  throw new TypeError(`The query parameter "${name}" is "${value}". It must be one of ${words.join(", ")}.`);
}

/**
 * Returns a parameter that must be a whole number, or `otherwise` if it is missing.
 * @throws TypeError if it is not a whole number from 1 to `max`
 */
export function wholeNumber(name: string, value: string | undefined, max: number, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (/^[1-9]\d*$/.test(value) && Number(value) <= max) return Number(value);
  throw new TypeError(`The query parameter "${name}" is "${value}". It must be a whole number from 1 to ${max}.`);
}
