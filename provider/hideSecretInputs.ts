import type * as pulumi from "@pulumi/pulumi";
import { redact, Secret } from "../sdk/secret";
import type { Properties } from "./properties";

type Handler = (...args: unknown[]) => Promise<unknown>;

/**
 * The handlers, with what the program marks as secret removed from every message: handlers are given plain text, and
 * `__secretInputs` names the secret inputs.
 */
export function hideSecretInputs(handlers: pulumi.dynamic.ResourceProvider): pulumi.dynamic.ResourceProvider {
  const { configure, ...others } = handlers;
  const hiding = Object.entries(others).map(([method, handler]) => [method, hideFirst(handler as Handler)]);
  return { ...(configure ? { configure } : {}), ...Object.fromEntries(hiding) };
}

/** The inputs that are secret. */
export function secretFields({ __secretInputs }: Properties): string[] {
  return typeof __secretInputs === "string" ? __secretInputs.split(",") : [];
}

function hideFirst(handler: Handler): Handler {
  return async (...args) => {
    const secrets = args.flatMap(secretValues);
    for (const value of secrets) if (typeof value === "string") new Secret(value);
    const result = await handler(...args);
    return secrets.length > 0 && isChecked(result)
      ? { ...result, failures: conceal(result.failures, secrets, args.flatMap(namesOfSecrets)) }
      : result;
  };
}

/** Every single value of the secret inputs. Of a comma list, the parts: problems are reported of each. */
function secretValues(properties: unknown): unknown[] {
  return namesOfSecrets(properties).flatMap((field) => leaves((properties as Properties)[field]));
}

function namesOfSecrets(properties: unknown): string[] {
  return typeof properties === "object" && properties !== null ? secretFields(properties as Properties) : [];
}

function leaves(value: unknown): unknown[] {
  if (typeof value === "string") return [value, ...value.split(",").map((part) => part.trim())];
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leaves);
  return [value];
}

function isChecked(result: unknown): result is { failures: pulumi.dynamic.CheckFailure[] } {
  return typeof result === "object" && result !== null && Array.isArray((result as Properties).failures);
}

/**
 * Numbers, and texts too short to be hidden everywhere, are hidden in the problems of their own resource. The engine
 * prints the value of the property that a problem names: that of a secret one is named in the text instead.
 */
function conceal(
  failures: readonly pulumi.dynamic.CheckFailure[],
  secrets: readonly unknown[],
  names: readonly string[],
): pulumi.dynamic.CheckFailure[] {
  const texts = [...new Set(secrets.map(String))].filter((text) => text !== "").sort((a, b) => b.length - a.length);
  const hidden = texts.map((text) => new RegExp(`(?<![\\w.])${escapePattern(text)}(?![\\w.])`, "g"));
  return failures.map(({ property, reason }) => {
    const shown = redact(hidden.reduce((rest, text) => rest.replace(text, "[secret]"), reason));
    return names.includes(property) ? { property: "", reason: `${property}: ${shown}` } : { property, reason: shown };
  });
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
