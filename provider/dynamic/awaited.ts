import * as pulumi from "@pulumi/pulumi";

/**
 * Makes the values of a data source refuse to be used before they are there. Otherwise, a program in
 * JavaScript that forgets `await` would compare `undefined` with a budget, take the last branch, and
 * set 0 workers.
 * @param names the names of the values
 */
export function awaitedOnly<T>(name: string, found: Promise<T>, names: readonly (keyof T & string)[]): Promise<T> {
  for (const value of names)
    Object.defineProperty(found, value, {
      get() {
        throw new pulumi.RunError(
          `${name} returns a promise, which has no ${value}: write (await ${name}(…)).${value}`,
        );
      },
    });
  return found;
}

/** Same as `awaitedOnly`, for an output, whose values are outputs: they cannot be compared either. */
export function appliedOnly<T>(name: string, found: pulumi.Output<T>, names: readonly (keyof T & string)[]) {
  for (const value of names)
    Object.defineProperty(found, value, {
      get: () =>
        Object.defineProperty(
          found.apply((each) => (each as T)[value]),
          Symbol.toPrimitive,
          {
            value() {
              throw new pulumi.RunError(`${value} of ${name} is an output, not a number yet: use it within apply`);
            },
          },
        ),
    });
  return found;
}
