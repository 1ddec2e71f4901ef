import { createHash } from "node:crypto";

/** A map of properties, in the form in which the engine passes it. */
export type Properties = Record<string, unknown>;

/**
 * The engine's placeholder for a value that is not known yet. It can replace a value of any type,
 * at any depth.
 */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Returns `true` if the value is or contains, at any depth, a value that is not known yet. */
export function containsUnknown(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === UNKNOWN;
  return Object.values(value).some(containsUnknown);
}

/** Returns `true` for an object that is not a list. */
export function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object, and an empty object otherwise. */
export function objectOrEmpty(value: unknown): Properties {
  return isObject(value) ? value : {};
}

/**
 * The property that marks a special value for the engine, and its content if the value is a secret.
 */
export const SIGNATURE = "4dabf18193072939515e22adb298388d";
export const SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270";

/** Returns the value as a secret, which the engine encrypts in state and never prints. */
export function secretValue(value: unknown): Properties {
  return isObject(value) && value[SIGNATURE] === SECRET_SIGNATURE ? value : { [SIGNATURE]: SECRET_SIGNATURE, value };
}

/** The object keys that can be part of a secret input's name, as in `env.HF_TOKEN`. */
export const SECRET_KEY = /^\w+$/;

/** Returns the properties whose names satisfy `isWanted`. */
export function pick(properties: Properties, isWanted: (name: string) => boolean): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => isWanted(name)));
}

/** A condition on an input, and the message for a value that does not meet the condition. */
export interface InputRule {
  readonly message: string;
  readonly allows: (value: unknown) => boolean;
}

/** A duration in seconds. */
export const SECONDS: InputRule = {
  message: "must be whole seconds, 1 or more",
  allows: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
};

/** A choice. */
export const TRUE_OR_FALSE: InputRule = {
  message: "must be true or false",
  allows: (value) => typeof value === "boolean",
};

/** Returns a digest that distinguishes a plain value from other values. */
export function digestOf(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value) ?? "")
    .digest("hex")
    .slice(0, 16);
}
