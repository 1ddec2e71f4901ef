import { writeSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";

/**
 * Makes it an error to use a data source or its values before they are available. Otherwise, a
 * program in JavaScript that forgets `await` would compare `undefined` with a budget, take the last
 * branch, and set 0 workers.
 * @param names the names of the values
 */
export function awaitedOnly<T>(name: string, found: Promise<T>, names: readonly (keyof T & string)[]): Promise<T> {
  const message = (value?: string) =>
    `${name} returns a promise, which has no ${value}: write (await ${name}(…)).${value}`;
  for (const value of names)
    Object.defineProperty(found, value, {
      get() {
        fail(message(value));
      },
    });
  return withoutNumber(found, message(names[0]));
}

/**
 * Same as `awaitedOnly`, for an output, whose values are outputs: they cannot be compared either.
 */
export function appliedOnly<T>(name: string, found: pulumi.Output<T>, names: readonly (keyof T & string)[]) {
  const message = (value?: string) => `${value} of ${name} is an output, not a number yet: use it within apply`;
  for (const value of names)
    Object.defineProperty(found, value, {
      get: () =>
        withoutNumber(
          found.apply((each) => (each as T)[value]),
          message(value),
        ),
    });
  return withoutNumber(found, message(names[0]));
}

/** Makes a comparison with a number an error. */
function withoutNumber<T>(found: T, message: string): T {
  return Object.defineProperty(found, Symbol.toPrimitive, {
    value() {
      fail(message);
    },
  });
}

/**
 * Ends the program with an error. In a program that Pulumi runs in a separate process, nothing is
 * thrown: Pulumi enables V8's debugger, which an error in an async function keeps busy until all
 * memory is used up, and nobody would see the message.
 */
function fail(message: string): never {
  if (!/[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/]run/.test(process.argv[1] ?? "")) throw new pulumi.RunError(message);
  writeSync(2, `error: ${message}\n`);
  process.exit(1);
}
