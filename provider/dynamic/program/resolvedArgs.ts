import * as pulumi from "@pulumi/pulumi";
import type { ResolvedArg } from "../../adoption/description";

/**
 * Resolves an argument. Rejects if one of the program's outputs fails, which the engine reports
 * itself.
 */
export async function resolveArg(arg: unknown): Promise<ResolvedArg> {
  const outputsAreSecret = await holdsSecret(arg);
  let isSecret = outputsAreSecret;
  let isUnknown = false;
  const plain = (value: unknown): unknown => {
    if (pulumi.runtime.isRpcSecret(value)) {
      isSecret = true;
      return plain(pulumi.runtime.unwrapRpcSecret(value));
    }
    isUnknown ||= value === pulumi.runtime.unknownValue;
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
  };
  const value = plain(await pulumi.runtime.serializeProperty("argument", arg as pulumi.Input<unknown>));
  return { value, isSecret, isUnknown };
}

/** Returns `true` if an argument is not a plain value, so that it may contain a secret. */
export function isOutput(arg: unknown): boolean {
  if (pulumi.Output.isInstance(arg) || arg instanceof Promise) return true;
  return typeof arg === "object" && arg !== null && Object.values(arg).some(isOutput);
}

/**
 * Inspects the outputs themselves. Until the first resource is registered, it is unknown whether
 * the engine supports secrets.
 */
async function holdsSecret(arg: unknown): Promise<boolean> {
  if (pulumi.Output.isInstance(arg)) return pulumi.isSecret(arg);
  if (arg instanceof Promise) return holdsSecret(await arg);
  if (typeof arg !== "object" || arg === null) return false;
  const parts = await Promise.all(Object.values(arg).map(holdsSecret));
  return parts.includes(true);
}
