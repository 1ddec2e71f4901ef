/**
 * The names of the error classes. They are stored because a minifier shortens the names of classes,
 * but not the keys of objects.
 */
const NAMES = new WeakMap<object, string>();

/** Sets the names of these error classes. */
export function nameErrors(classes: Readonly<Record<string, { readonly prototype: Error }>>): void {
  for (const [name, errorClass] of Object.entries(classes)) NAMES.set(errorClass, name);
}

/**
 * Returns the name of an error class. If no name was set, which is the case for a user's own class,
 * returns the name of the class itself.
 */
export function errorName(errorClass: { readonly name: string }): string {
  return NAMES.get(errorClass) ?? errorClass.name;
}
