import type * as pulumi from "@pulumi/pulumi";
import { redact, SecretText } from "../sdk/secret";
import { type AnyHandler, wrapHandlers } from "./engineErrors";
import { digestOf, isObject, type Properties, pick } from "./properties";

/**
 * Returns handlers whose messages do not show secret inputs. The engine passes secrets to handlers
 * as plain values, and `__secretInputs` names them.
 */
export function hideSecretInputs(handlers: pulumi.dynamic.ResourceProvider): pulumi.dynamic.ResourceProvider {
  return wrapHandlers(handlers, hideFirst);
}

/**
 * Returns the names of the secret inputs. The name of a value in an object has two parts:
 * `env.HF_TOKEN`.
 */
export function secretFields({ __secretInputs }: Properties): string[] {
  return typeof __secretInputs === "string" ? __secretInputs.split(",") : [];
}

function hideFirst(handler: AnyHandler): AnyHandler {
  return async (...args) => {
    const secrets = args.flatMap(secretValues);
    for (const value of secrets) if (typeof value === "string") new SecretText(value);
    // Only in failures of their own resource: most of these values are not secret.
    const hidden = new Map([
      ...args.flatMap(valuesOfTransforms).map((value) => [String(value), OF_TRANSFORM] as const),
      ...secrets.map((value) => [String(value), "[secret]"] as const),
    ]);
    for (const each of args) removeMark(each);
    const result = await handler(...args);
    return isChecked(result) ? { ...result, failures: conceal(result.failures, hidden).map(withoutProperty) } : result;
  };
}

/** Stands for a value that a transform may have set, which may be secret. */
const OF_TRANSFORM = "[hidden: a transform may have set it]";

/**
 * Returns the values of inputs that are not as the program wrote them, so a transform may have set
 * them. The class could not name the secret ones.
 */
function valuesOfTransforms(properties: unknown): unknown[] {
  const digests = isObject(properties) ? properties.__changedLater : undefined;
  if (!isObject(properties) || !isObject(digests)) return [];
  const isWritten = (name: string) => digests[name] === digestOf(properties[name]);
  return leaves(pick(properties, (name) => !name.startsWith("__") && !isWritten(name)));
}

/** Removes the mark of inputs that a transform may have set: it is not for state. */
function removeMark(properties: unknown): void {
  if (isObject(properties)) delete properties.__changedLater;
}

/**
 * Returns every value of the secret inputs, and the parts of comma-separated strings, which are
 * checked one by one.
 */
function secretValues(properties: unknown): unknown[] {
  return namesOfSecrets(properties).flatMap((name) => {
    const [field = "", key] = name.split(".");
    const value = isObject(properties) ? properties[field] : undefined;
    if (key === undefined) return leaves(value);
    return isObject(value) ? leaves(value[key]) : [];
  });
}

function namesOfSecrets(properties: unknown): string[] {
  return isObject(properties) ? secretFields(properties) : [];
}

function leaves(value: unknown): unknown[] {
  if (typeof value === "string") return [value, ...value.split(",").map((part) => part.trim())];
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leaves);
  return [value];
}

function isChecked(result: unknown): result is { failures: pulumi.dynamic.CheckFailure[] } {
  return isObject(result) && Array.isArray(result.failures);
}

/**
 * Returns the failure with its property moved into the reason's text. If a failure names a
 * property, the engine prints that property's value as it was sent, which may be a secret from a
 * transform, a nested one, or one that the program did not mark. So none of our failures names a
 * property.
 */
export function withoutProperty({ property, reason }: pulumi.dynamic.CheckFailure): pulumi.dynamic.CheckFailure {
  return { property: "", reason: property === "" ? reason : `${property}: ${reason}` };
}

/**
 * Redacts numbers, and strings that are too short to redact everywhere, in the problems of their
 * own resource.
 */
function conceal(
  failures: readonly pulumi.dynamic.CheckFailure[],
  hidden: ReadonlyMap<string, string>,
): pulumi.dynamic.CheckFailure[] {
  const texts = [...hidden.keys()].filter((text) => text !== "").sort((a, b) => b.length - a.length);
  if (texts.length === 0) return failures.map(({ property, reason }) => ({ property, reason: redact(reason) }));
  const pattern = new RegExp(`(?<![\\w.])(?:${texts.map(escapePattern).join("|")})(?![\\w.])`, "g");
  return failures.map(({ property, reason }) => ({
    property,
    reason: redact(reason.replace(pattern, (text) => hidden.get(text) ?? "[secret]")),
  }));
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
