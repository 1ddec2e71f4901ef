import type * as pulumi from "@pulumi/pulumi";
import { digestOf, SECRET_KEY } from "../../engine/properties";
import { isOutput, resolveArg } from "./resolvedArgs";
import { areChangedLater } from "./transforms";

/** Inputs that tell the handlers which values are secret. */
interface SecretInputs {
  readonly __secretInputs?: Promise<string | undefined>;
  readonly __changedLater?: Readonly<Record<string, string>>;
}

/**
 * Returns the inputs that tell the handlers which values are secret, because the engine passes the
 * values without that mark. `__secretInputs` is absent if all arguments are plain values.
 * `__changedLater` means that a transform may still change the arguments, so that the secret ones
 * are not yet known. It contains a digest of each value that is plain in the program. A value that
 * still matches its digest does not come from a transform.
 */
export function secretInputs(args: object, options: pulumi.CustomResourceOptions): SecretInputs {
  const outputs = Object.entries(args).filter(([, arg]) => isOutput(arg));
  return {
    ...(outputs.length > 0 && { __secretInputs: namesOfSecrets(outputs) }),
    ...(areChangedLater(options) && { __changedLater: plainDigests(args) }),
  };
}

function plainDigests(args: object): Readonly<Record<string, string>> {
  const isPlain = (value: unknown): boolean =>
    Array.isArray(value) ? value.every(isPlain) : ["string", "number", "boolean"].includes(typeof value);
  const plain = Object.entries(args).filter(([, arg]) => isPlain(arg));
  return Object.fromEntries(plain.map(([name, arg]) => [name, digestOf(arg)]));
}

/** Returns the values of a plain object individually, each under its own name. */
function parts([name, arg]: [string, unknown]): [string, unknown][] {
  const isPlainObject = typeof arg === "object" && arg !== null && Object.getPrototypeOf(arg) === Object.prototype;
  const entries = isPlainObject ? Object.entries(arg) : [];
  if (entries.length === 0 || !entries.every(([key]) => SECRET_KEY.test(key))) return [[name, arg]];
  return entries.map(([key, value]) => [`${name}.${key}`, value]);
}

async function namesOfSecrets(args: readonly [string, unknown][]): Promise<string | undefined> {
  const names = await Promise.all(
    args.flatMap(parts).map(async ([name, arg]) => {
      // The same failure also fails the resource's registration, which reports it.
      const isSecret = await resolveArg(arg).then(
        (resolved) => resolved.isSecret,
        () => false,
      );
      return isSecret ? [name] : [];
    }),
  );
  return names.flat().sort().join() || undefined;
}
