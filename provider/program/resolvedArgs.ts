import * as pulumi from "@pulumi/pulumi";

/** An argument of a resource, as far as it is known. */
export interface ResolvedArg {
  /** The plain value. Only meant to be used while it is known, and to be shown while it is not secret. */
  readonly value: unknown;
  /** Whether it, or anything in it, is secret. Not known before the value is. */
  readonly isSecret: boolean;
  /** Whether it, or anything in it, is still to come. */
  readonly isUnknown: boolean;
}

/** Waits for an argument. Fails when the program's output does; the engine reports that by itself. */
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

/** Whether an argument is more than a plain value, so that something in it may be secret. */
export function isOutput(arg: unknown): boolean {
  if (pulumi.Output.isInstance(arg) || arg instanceof Promise) return true;
  return typeof arg === "object" && arg !== null && Object.values(arg).some(isOutput);
}

/** Asks the outputs themselves: whether the engine takes secrets is not known before the first resource is registered. */
async function holdsSecret(arg: unknown): Promise<boolean> {
  if (pulumi.Output.isInstance(arg)) return pulumi.isSecret(arg);
  if (arg instanceof Promise) return holdsSecret(await arg);
  if (typeof arg !== "object" || arg === null) return false;
  const parts = await Promise.all(Object.values(arg).map(holdsSecret));
  return parts.includes(true);
}
