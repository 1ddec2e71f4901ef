import { isOutput, resolveArg } from "./resolvedArgs";

/**
 * The input that tells the handlers which inputs are secret: the engine passes them their values as plain text. Empty for
 * plain values, which most programs have.
 */
export function secretInputs(args: object): { readonly __secretInputs?: Promise<string | undefined> } {
  const outputs = Object.entries(args).filter(([, arg]) => isOutput(arg));
  return outputs.length === 0 ? {} : { __secretInputs: namesOfSecrets(outputs) };
}

async function namesOfSecrets(args: readonly [string, unknown][]): Promise<string | undefined> {
  const names = await Promise.all(
    args.map(async ([name, arg]) => {
      // What fails here fails the resource's registration, too, and is reported there.
      const isSecret = await resolveArg(arg).then(
        (resolved) => resolved.isSecret,
        () => false,
      );
      return isSecret ? [name] : [];
    }),
  );
  return names.flat().sort().join() || undefined;
}
