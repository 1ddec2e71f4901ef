import type * as pulumi from "@pulumi/pulumi";
import { readConfig } from "../../provider/connection/connection";
import { log } from "../../provider/engine/log";
import { isObject, type Properties } from "../../provider/engine/properties";
import type { Received } from "../wire/properties";
import { automaticNameInputs, type Nameless } from "./names";
import { type PluginResource, toPublic } from "./resource";

/** The result of a check. */
interface Checked {
  readonly inputs: Properties;
  readonly failures: readonly pulumi.dynamic.CheckFailure[];
  /** The names of secret inputs. */
  readonly secrets: readonly string[];
}

/** The resource whose inputs are checked. */
type Subject = Pick<Nameless, "urn" | "logicalName" | "autonaming">;

/** Validates a program's inputs and returns them in normal form. */
export async function checkInputs(
  resource: PluginResource,
  subject: Subject,
  olds: Properties,
  news: Received,
): Promise<Checked> {
  const properties = withTextVariables(news.properties);
  const { inputs, failures } = resource.prepare?.(properties) ?? { inputs: properties, failures: [] };
  const secrets = [...new Set([...news.secrets, ...(resource.secretInputs?.(inputs) ?? [])])];
  const given = { ...inputs, ...nameFor(resource, subject, inputs), ...secretNames(resource, secrets) };
  const checked = await resource.handlers.check?.(olds, given);
  const result = {
    inputs: toPublic(resource, checked?.inputs ?? given),
    failures: [...failures, ...(checked?.failures ?? [])],
    secrets,
  };
  if (result.failures.length === 0) warn(resource, subject, olds, result);
  return result;
}

/** Converts variables to strings, because unquoted YAML values may be numbers or booleans. */
function withTextVariables(properties: Properties): Properties {
  const { env } = properties;
  if (!isObject(env)) return properties;
  const toText = (value: unknown) => (["number", "boolean"].includes(typeof value) ? String(value) : value);
  return { ...properties, env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, toText(value)])) };
}

/** Logs warnings and notes that no earlier run has logged. */
function warn(
  resource: PluginResource,
  { logicalName }: Subject,
  olds: Properties,
  { inputs, secrets }: Checked,
): void {
  const known = resource.warnings?.(toPublic(resource, olds), secrets) ?? [];
  const found = resource.warnings?.(inputs, secrets) ?? [];
  for (const text of found) if (!known.includes(text)) log(logicalName, `warning: ${text}`);
  const notes = resource.notes?.(toPublic(resource, olds)) ?? [];
  for (const text of resource.notes?.(inputs) ?? []) if (!notes.includes(text)) log(logicalName, text);
}

function nameFor({ hasUniqueNames }: PluginResource, subject: Subject, { name }: Properties): Properties {
  if (hasUniqueNames === undefined || name !== undefined) return {};
  return automaticNameInputs({ ...subject, namespace: readConfig("namespace") });
}

/** Returns the input that lists the names of secret inputs, as the dynamic provider uses it. */
function secretNames({ namesSecret = () => true }: PluginResource, secrets: readonly string[]): Properties {
  const names = secrets.filter(namesSecret).sort().join();
  return names === "" ? {} : { __secretInputs: names };
}
