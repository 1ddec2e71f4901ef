import * as pulumi from "@pulumi/pulumi";
import type { Client } from "../../sdk/client";
import { CAPABILITIES, type Capabilities } from "../../sdk/contract/capabilities";
import type { NamedRecord } from "../../sdk/records/listed";
import type { Readers } from "../../sdk/records/readers";
import { apiOf, CONFIG_NAMESPACE, providerSettings, type ReadConfig } from "../connection/config";
import { type ServerlessGpuProvider, settingsOf } from "../connection/provider";
import { type ResolvedArg, resolveArg } from "../program/resolvedArgs";
import { type Properties, pick } from "../properties";
import type { AdoptableKind } from "./adoptable";
import type { RecordKind } from "./recordKind";
import { LIST_MAX_AGE_MS } from "./sharedLists";

/** The parts of a kind that a preview of an adoption needs. */
export interface PreviewedKind<T extends NamedRecord>
  extends AdoptableKind<T>,
    Pick<RecordKind<T>, "table" | "checkFields"> {
  readonly records: (client: Client) => Pick<Readers<T>, "find">;
  /** Returns the fields in whose words the record is to be read; see `KnownOptions`. @default none */
  readonly known?: (fields: Properties) => Properties;
}

/** A class of resources that adopt. */
export interface AdoptingClass<T extends NamedRecord> {
  /** The type in state. */
  readonly type: string;
  /** One of its records in messages, such as `an endpoint`. */
  readonly one: string;
  /** Loads the rules: programs that adopt nothing start without them. */
  readonly loadKind: () => PreviewedKind<T>;
}

/** A resolved argument. An object of the program has its parts, too. */
type Arg = ResolvedArg & { readonly parts?: Readonly<Record<string, ResolvedArg>> };

type Args = Readonly<Record<string, Arg>>;

/**
 * In a preview, logs the changes that an adoption makes, field by field, and fails if the record does not exist or must not
 * be adopted. Does nothing for a record that the resource has already.
 */
export function previewAdoption<T extends NamedRecord>(
  resource: pulumi.CustomResource,
  args: object | undefined,
  adopting: AdoptingClass<T>,
): void {
  if (!args || !("adoptId" in args) || args.adoptId === undefined || !pulumi.runtime.isDryRun()) return;
  // Keeps the program from ending before this is done.
  const done = pulumi.runtime.rpcKeepAlive();
  logChanges(resource, args, adopting)
    // Failures are reported elsewhere: by the program's own outputs, or by the check of the inputs.
    .catch(() => undefined)
    .then(async (refusal) => {
      if (refusal === undefined) return;
      await pulumi.log.error(refusal, resource);
      // A logged error alone does not fail a program. This unhandled one does, and other resources continue.
      throw Object.assign(new pulumi.RunError(`${adopting.one} cannot be adopted`), { stack: "" });
    })
    .finally(() => setImmediate(done));
}

/** Returns the reason if the adoption is refused. */
async function logChanges<T extends NamedRecord>(
  resource: pulumi.CustomResource,
  given: object,
  { type, loadKind }: AdoptingClass<T>,
): Promise<string | undefined> {
  // A new resource's id is not known in a preview.
  if (!(await resolveArg(resource.id)).isUnknown) return undefined;
  const entries = Object.entries(given).map(async ([name, arg]) => [name, await resolve(arg)] as const);
  const args: Args = Object.fromEntries(await Promise.all(entries));
  const { adoptId } = args;
  if (!adoptId || adoptId.isUnknown) return warnUnknown(resource, "adoptId is not known yet");
  if (typeof adoptId.value !== "string") return undefined;
  const id = adoptId.value;
  const readConfig = await configOf(resource, type);
  if (!readConfig) return warnUnknown(resource, "the provider's settings are not known yet");

  const kind = loadKind();
  // The check of the inputs reports invalid values.
  const inputs = kind.checkFields(knownFields(kind, args)).fields;
  const show = (text: string) => (adoptId.isSecret ? text.replaceAll(id, "[secret]") : text);
  let found: T | undefined;
  let capabilities: Capabilities;
  try {
    const { clientFor } = require("../connection/clientFor") as typeof import("../connection/clientFor");
    const settings = providerSettings(readConfig);
    const client = clientFor(settings);
    capabilities = CAPABILITIES[apiOf(settings)];
    found = await kind.records(client).find(id, { maxAgeMs: LIST_MAX_AGE_MS, known: kind.known?.(inputs) });
  } catch (error) {
    return warnUnknown(resource, show(error instanceof Error ? error.message : String(error)));
  }
  if (!found) {
    return (
      `${kind.noun} ${show(id)} does not exist in this account, so it cannot be adopted. Check adoptId and the API key. ` +
      `If it was deleted, remove adoptId to create a new ${kind.noun}`
    );
  }
  const { description, refusal } = describeAdoption(kind, found, show(id), args, inputs, capabilities);
  if (refusal !== undefined) return show(refusal);
  await pulumi.log.info(description, resource);
  return undefined;
}

/** Resolves an argument, and the values of a plain object one by one: some may be secret or not known yet. */
async function resolve(arg: unknown): Promise<Arg> {
  const whole = await resolveArg(arg);
  const isPlainObject = typeof arg === "object" && arg !== null && Object.getPrototypeOf(arg) === Object.prototype;
  if (!isPlainObject) return whole;
  const parts = Object.entries(arg).map(async ([key, part]) => [key, await resolveArg(part)] as const);
  return { ...whole, parts: Object.fromEntries(await Promise.all(parts)) };
}

async function warnUnknown(resource: pulumi.CustomResource, reason: string): Promise<undefined> {
  await pulumi.log.warn(`the preview cannot show the changes of the adoption: ${reason}`, resource);
}

/** Returns the settings of the resource's provider; `undefined` while they are not known. */
async function configOf(resource: pulumi.CustomResource, type: string): Promise<ReadConfig | undefined> {
  const provider = resource.getProvider(type);
  if (!provider) {
    const config = new pulumi.Config(CONFIG_NAMESPACE);
    return (name) => config.get(name);
  }
  const { value, isUnknown } = await resolveArg(settingsOf(provider as ServerlessGpuProvider));
  return isUnknown ? undefined : (name) => (value as Record<string, string | undefined>)[name];
}

function describeAdoption<T extends NamedRecord>(
  kind: PreviewedKind<T>,
  found: T,
  shownId: string,
  args: Args,
  inputs: Properties,
  capabilities: Capabilities,
): { readonly description: string; readonly refusal: string | undefined } {
  const { compareForAdoption } = require("./adoptable") as typeof import("./adoptable");
  const { before, changed, refusal } = compareForAdoption(kind, found, inputs, capabilities);
  const changes = Object.keys(kind.table).flatMap((field) => {
    const arg = args[field];
    return arg ? describeChange(field, arg, { before, inputs, isChanged: changed.includes(field) }) : [];
  });
  const name = args.name?.isSecret ? "[secret]" : JSON.stringify(found.name);
  const effect =
    changes.length === 0 ? " Nothing changes" : ` The program changes:${changes.map((each) => `\n  ${each}`).join("")}`;
  const description = `${kind.noun} ${shownId} (${name}) is adopted; no ${kind.noun} is created.${effect}`;
  return { description, refusal };
}

/** Returns the arguments that are fields and known, and the known parts of the others. */
function knownFields<T extends NamedRecord>({ table }: PreviewedKind<T>, args: Args): Properties {
  const known = Object.entries(args).flatMap(([field, { value, isUnknown, parts }]) => {
    if (!isUnknown) return [[field, value] as const];
    if (!parts) return [];
    return [[field, Object.fromEntries(Object.entries(parts).flatMap(knownValue))] as const];
  });
  return pick(Object.fromEntries(known), (field) => Object.hasOwn(table, field));
}

function knownValue([key, { value, isUnknown }]: [string, ResolvedArg]): [string, unknown][] {
  return isUnknown ? [] : [[key, value]];
}

interface Comparison {
  readonly before: Properties;
  readonly inputs: Properties;
  readonly isChanged: boolean;
}

function describeChange(field: string, arg: Arg, { before, inputs, isChanged }: Comparison): string[] {
  if (arg.parts) return describeParts(field, arg.parts, before[field], inputs[field]);
  // It may also be secret.
  if (arg.isUnknown) return [`${field}: to a value that is not known yet`];
  if (!isChanged) return [];
  if (arg.isSecret) return [`${field}: [secret]`];
  const [from, to] = [before[field], inputs[field]].map((value) => JSON.stringify(value));
  return [from === undefined ? `${field}: ${to}` : `${field}: ${from} → ${to}`];
}

/** Names the keys whose values change, without the values: those of the service may be secret. */
function describeParts(
  field: string,
  parts: Readonly<Record<string, ResolvedArg>>,
  before: unknown,
  after: unknown,
): string[] {
  const [from, to] = [before, after].map((value) => (value ?? {}) as Properties) as [Properties, Properties];
  const isSet = (key: string) => parts[key]?.isUnknown === false && from[key] !== to[key];
  const keys = Object.keys(parts).sort();
  const set = keys.filter(isSet);
  const unknown = keys.filter((key) => parts[key]?.isUnknown);
  return [
    ...(set.length > 0 ? [`${field}: sets ${set.join(", ")}`] : []),
    ...(unknown.length > 0 ? [`${field}: sets ${unknown.join(", ")} to a value that is not known yet`] : []),
  ];
}
