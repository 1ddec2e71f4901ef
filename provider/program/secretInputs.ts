import { isOutput, resolveArg } from "./resolvedArgs";

/**
 * Returns the input that names the secret inputs, because the engine passes their values to the handlers as plain values.
 * Returns an empty object if all arguments are plain values.
 */
export function secretInputs(args: object): { readonly __secretInputs?: Promise<string | undefined> } {
  const outputs = Object.entries(args).filter(([, arg]) => isOutput(arg));
  return outputs.length === 0 ? {} : { __secretInputs: namesOfSecrets(outputs) };
}

async function namesOfSecrets(args: readonly [string, unknown][]): Promise<string | undefined> {
  const names = await Promise.all(
    args.map(async ([name, arg]) => {
      // A failure here also fails the resource's registration, which reports it.
      const isSecret = await resolveArg(arg).then(
        (resolved) => resolved.isSecret,
        () => false,
      );
      return isSecret ? [name] : [];
    }),
  );
  return names.flat().sort().join() || undefined;
}
