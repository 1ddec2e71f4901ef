/** The names of error classes. A minifier shortens the names of classes, but not those of keys. */
const NAMES = new WeakMap<object, string>();

/** Sets the names that the errors of these classes have. */
export function nameErrors(classes: Readonly<Record<string, { readonly prototype: Error }>>): void {
  for (const [name, errorClass] of Object.entries(classes)) NAMES.set(errorClass, name);
}

/** Returns the name of an error class. A class without one, such as a user's, has its own. */
export function errorName(errorClass: { readonly name: string }): string {
  return NAMES.get(errorClass) ?? errorClass.name;
}
