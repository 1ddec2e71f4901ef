import { type Arg, lookAtAdoption, type PreviewedKind } from "../../provider/adoption/description";
import { readConfig } from "../../provider/connection/connection";
import { log } from "../../provider/engine/log";
import { containsUnknown, isObject, type Properties } from "../../provider/engine/properties";
import { NotFoundError } from "../../sdk/errors/errors";
import type { NamedRecord } from "../../sdk/records/listed";

/**
 * Logs the changes that an adoption makes, field by field.
 * @throws NotFoundError if the record does not exist or must not be adopted
 */
export type PreviewAdoption = (inputs: Properties, secrets: readonly string[]) => Promise<void>;

/**
 * Returns the adoption preview for one kind. It does nothing if the inputs contain no `adoptId`.
 */
export function adoptionPreviewOf<T extends NamedRecord>(kind: PreviewedKind<T>): PreviewAdoption {
  return async (inputs, secrets) => {
    if (inputs.adoptId === undefined) return;
    const { description, refusal, warning } = await lookAtAdoption(kind, readConfig, argsOf(inputs, secrets));
    if (refusal !== undefined) throw new NotFoundError(refusal);
    if (warning !== undefined) log(kind.noun, `warning: ${warning}`);
    if (description !== undefined) log(kind.noun, description);
  };
}

/** Returns the inputs as arguments. Each value of a map also becomes a separate part. */
function argsOf(inputs: Properties, secrets: readonly string[]): Record<string, Arg> {
  const resolved = (name: string, value: unknown) => ({
    value,
    isSecret: secrets.includes(name),
    isUnknown: containsUnknown(value),
  });
  const args = Object.entries(inputs).map(([name, value]) => {
    const isMap = isObject(value);
    const parts = Object.entries(isMap ? value : {}).map(([key, part]) => [key, resolved(`${name}.${key}`, part)]);
    return [name, { ...resolved(name, value), ...(isMap && { parts: Object.fromEntries(parts) }) }];
  });
  return Object.fromEntries(args);
}
