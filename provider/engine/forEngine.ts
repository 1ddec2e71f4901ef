import type * as pulumi from "@pulumi/pulumi";
import { AuthenticationError } from "../../sdk/errors/errors";
import { redact, SecretText } from "../../sdk/errors/secretText";
import { presentable, withoutEcho, wrapHandlers } from "./errors";
import { digestOf, isObject, type Properties, pick } from "./properties";

/**
 * Returns handlers for the engine. Their results are plain JSON, because `undefined` or `NaN` in a
 * result would cause a failure only after RunPod had made its changes. Their errors contain no
 * keys, and their messages do not show secret inputs. The engine passes secrets to handlers as
 * plain values; `__secretInputs` lists which inputs are secret.
 */
export function forEngine(handlers: pulumi.dynamic.ResourceProvider): pulumi.dynamic.ResourceProvider {
  return wrapHandlers(handlers, (handler) => async (...args) => {
    try {
      const hidden = hideIn(args);
      const result = await handler(...args);
      if (result === undefined) return undefined;
      const plain: unknown = JSON.parse(JSON.stringify(result));
      return isChecked(plain) ? { ...plain, failures: conceal(plain.failures, hidden).map(withoutProperty) } : plain;
    } catch (error) {
      throw withoutEcho(saidOnce(presentable(error), nameIn(args)));
    }
  });
}

/**
 * Returns the names of the secret inputs. A value inside an object has a two-part name:
 * `env.HF_TOKEN`.
 */
export function secretFields({ __secretInputs }: Properties): string[] {
  return typeof __secretInputs === "string" ? __secretInputs.split(",") : [];
}

/**
 * Hides the secret inputs in all messages. Returns the values to hide in this resource's messages.
 */
function hideIn(args: readonly unknown[]): ReadonlyMap<string, string> {
  const secrets = args.flatMap(secretValues);
  for (const value of secrets) if (typeof value === "string") new SecretText(value);
  // Hidden only in failures of the same resource, because most of these values aren't secret.
  const hidden = new Map([
    ...args.flatMap(valuesOfTransforms).map((value) => [String(value), OF_TRANSFORM] as const),
    ...secrets.map((value) => [String(value), "[secret]"] as const),
  ]);
  for (const each of args) removeMark(each);
  return hidden;
}

/** Replaces a value that may have been set by a transform and may therefore be secret. */
const OF_TRANSFORM = "[hidden: a transform may have set it]";

/**
 * Returns the values of inputs that differ from what the program wrote. A transform may have set
 * them, and the resource's class never saw them, so it could not mark the secret ones.
 */
function valuesOfTransforms(properties: unknown): unknown[] {
  const digests = isObject(properties) ? properties.__changedLater : undefined;
  if (!isObject(properties) || !isObject(digests)) return [];
  const isWritten = (name: string) => digests[name] === digestOf(properties[name]);
  return leaves(pick(properties, (name) => !name.startsWith("__") && !isWritten(name)));
}

/**
 * Removes the mark on inputs that a transform may have set, because the mark does not belong in
 * state.
 */
function removeMark(properties: unknown): void {
  if (isObject(properties)) delete properties.__changedLater;
}

/**
 * Returns every value of the secret inputs. Also returns each part of a comma-separated string,
 * because the parts are checked one by one.
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
 * Returns the failure with its property moved into the text of the reason. If a failure names a
 * property, the engine prints the value of that property as it was sent. That value may be a
 * secret: one set by a transform, a nested one, or one that the program did not mark. For this
 * reason, our failures never name a property.
 */
export function withoutProperty({ property, reason }: pulumi.dynamic.CheckFailure): pulumi.dynamic.CheckFailure {
  return { property: "", reason: property === "" ? reason : `${property}: ${reason}` };
}

/**
 * Redacts, only in the problems of the resource that they belong to, the secrets that cannot be
 * redacted everywhere (numbers and short strings).
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

/** The resources whose errors have shown the full message about a rejected key, by refusal. */
const refusedFor = new Map<string, string>();

/**
 * Returns a short error if this process has already thrown one about the same refusal of the key
 * for another resource. The engine prints an error for each resource that it has begun.
 */
function saidOnce(error: Error, name: string): Error {
  if (!(error instanceof AuthenticationError) || "reasons" in error) return error;
  const refusal = refusalOf(error);
  const first = refusedFor.get(refusal) ?? name;
  refusedFor.set(refusal, first);
  if (first === name) return error;
  // Return a new error, because resources that wait for the same response share one error object.
  return presentable(new AuthenticationError(`the API key is not accepted: see the error of ${first}`));
}

/**
 * Returns what two errors share if they say the same. With 401, the service accepts the key for
 * nothing, so the request doesn't matter. Other refusals may be about one kind of record.
 */
function refusalOf({ message, status, body }: AuthenticationError): string {
  return status === 401 && body !== undefined ? body : message;
}

/** Returns the name of the record that a call is about. */
function nameIn(args: readonly unknown[]): string {
  const names = args.map((each) => (isObject(each) ? (each.name ?? each.__automaticName) : undefined));
  return String(names.findLast((name) => name !== undefined) ?? "another resource");
}
