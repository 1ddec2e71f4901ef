import type { Capabilities } from "../../sdk/contract/capabilities";
import type { NamedRecord } from "../../sdk/records/listed";
import type { Readers } from "../../sdk/records/readers";
import { clientFor } from "../connection/clientFor";
import { providerSettings, type ReadConfig } from "../connection/config";
import { capabilitiesOf } from "../connection/connection";
import type { ProviderClient } from "../connection/providerClient";
import { cancelled } from "../engine/cancellation";
import { objectOrEmpty, type Properties, UNKNOWN } from "../engine/properties";
import { fieldsIn } from "../fields/managed";
import type { InputKind } from "../fields/recordInputs";
import { fieldOf } from "../fields/settings";
import { LIST_MAX_AGE_MS } from "../ownership/location";
import { type AdoptableKind, compareForAdoption } from "./comparison";

/** The parts of a kind that an adoption preview needs. */
export interface PreviewedKind<T extends NamedRecord>
  extends AdoptableKind<T>,
    Pick<InputKind, "checkFields" | "completed"> {
  readonly records: (client: ProviderClient) => Pick<Readers<T>, "find" | "get">;
  /**
   * Returns the fields whose form the record should be read in; see `KnownOptions`.
   * @default none
   */
  readonly known?: (fields: Properties) => Properties;
  /**
   * Returns a field that an adoption always applies because RunPod does not show it, and the
   * consequences.
   */
  readonly appliedUnseen?: (record: T, inputs: Properties) => AppliedUnseen | undefined;
}

/** A field that an adoption always applies because RunPod does not show it. */
interface AppliedUnseen {
  readonly field: string;
  /** The consequences, in the wording of a preview. */
  readonly effect: string;
  /** The consequences, in the wording of an update. */
  readonly done: string;
}

/** A resolved argument of a resource. */
export interface ResolvedArg {
  /** The plain value. Only use it if it is known, and only show it if it is not secret. */
  readonly value: unknown;
  /** `true` if the value or part of it is secret. Not reliable while the value is unknown. */
  readonly isSecret: boolean;
  /** `true` if the value or part of it is not yet known. */
  readonly isUnknown: boolean;
}

/** A resolved argument. If it is an object in the program, its parts are resolved as well. */
export type Arg = ResolvedArg & { readonly parts?: Readonly<Record<string, ResolvedArg>> };

/** A resource's arguments, by name. */
export type Args = Readonly<Record<string, Arg>>;

/** The preview of an adoption. Exactly one of the three fields is set. */
interface AdoptionPreview {
  /** The changes, field by field. */
  readonly description?: string;
  /** Why the record cannot be adopted. */
  readonly refusal?: string;
  /** Why the preview cannot show the changes. */
  readonly warning?: string;
}

/**
 * Reads the record that `adoptId` refers to and compares it with the arguments. Never shows a
 * secret.
 */
export async function lookAtAdoption<T extends NamedRecord>(
  kind: PreviewedKind<T>,
  readConfig: ReadConfig,
  declared: Args,
): Promise<AdoptionPreview> {
  const args = completedArgs(kind, declared);
  const { adoptId } = args;
  if (!adoptId || adoptId.isUnknown) return noPreview("adoptId is not known yet");
  // The check of the inputs reports invalid values.
  if (typeof adoptId.value !== "string") return {};
  const id = adoptId.value;
  const show = (text: string) => (adoptId.isSecret ? text.replaceAll(id, "[secret]") : text);
  let found: T | undefined;
  let inputs: Properties;
  let capabilities: Capabilities;
  try {
    inputs = { ...kind.checkFields(knownFields(kind, args), readConfig).fields };
    const settings = providerSettings(readConfig);
    const client = clientFor(settings);
    capabilities = capabilitiesOf(settings);
    const options = { maxAgeMs: LIST_MAX_AGE_MS, known: kind.known?.(inputs), signal: cancelled };
    found = await kind.records(client).find(id, options);
  } catch (error) {
    return noPreview(show(error instanceof Error ? error.message : String(error)));
  }
  if (!found) {
    const refusal =
      `${kind.noun} ${show(id)} does not exist in this account, so it cannot be adopted. Check adoptId and the API key. ` +
      `If it was deleted, remove adoptId to create a new ${kind.noun}`;
    return { refusal };
  }
  const { description, refusal } = describeAdoption(kind, found, show(id), args, inputs, capabilities);
  return refusal === undefined ? { description } : { refusal: show(refusal) };
}

/** Adds the values that the arguments imply, such as the worker counts of a schedule. */
function completedArgs<T extends NamedRecord>({ completed, table }: PreviewedKind<T>, args: Args): Args {
  const values = Object.fromEntries(
    Object.entries(args).map(([name, { value, isUnknown }]) => [name, isUnknown ? UNKNOWN : value]),
  );
  const implied = Object.entries(completed?.(values) ?? {})
    .filter(([name, value]) => Object.hasOwn(table, name) && value !== values[name])
    .map(([name, value]) => [name, { value, isSecret: false, isUnknown: value === UNKNOWN }]);
  return { ...args, ...Object.fromEntries(implied) };
}

/** Returns a preview that says why it cannot show the changes. */
export function noPreview(reason: string): AdoptionPreview {
  return { warning: `the preview cannot show the changes of the adoption: ${reason}` };
}

function describeAdoption<T extends NamedRecord>(
  kind: PreviewedKind<T>,
  found: T,
  shownId: string,
  args: Args,
  inputs: Properties,
  capabilities: Capabilities,
): { readonly description: string; readonly refusal: string | undefined } {
  const { before, changed, refusal } = compareForAdoption(kind, found, inputs, capabilities);
  const applied = kind.appliedUnseen?.(found, inputs);
  const changes = Object.keys(kind.table).flatMap((field) => {
    const arg = args[field];
    if (arg && !arg.isUnknown && field === applied?.field) return [`${field}: ${applied.effect}`];
    return arg
      ? describeChange(field, arg, { before, inputs, isChanged: changed.some((setting) => fieldOf(setting) === field) })
      : [];
  });
  const name = args.name?.isSecret ? "[secret]" : JSON.stringify(found.name);
  const effect =
    changes.length === 0 ? " Nothing changes" : ` The program changes:${changes.map((each) => `\n  ${each}`).join("")}`;
  const description = `${kind.noun} ${shownId} (${name}) is adopted; no ${kind.noun} is created.${effect}`;
  return { description, refusal };
}

/** Returns the fields whose arguments are known, and the known parts of the others. */
function knownFields<T extends NamedRecord>({ table }: PreviewedKind<T>, args: Args): Properties {
  const known = Object.entries(args).flatMap(([field, { value, isUnknown, parts }]) => {
    if (!isUnknown) return [[field, value] as const];
    if (!parts) return [];
    return [[field, Object.fromEntries(Object.entries(parts).flatMap(knownValue))] as const];
  });
  return fieldsIn(table, Object.fromEntries(known));
}

function knownValue([key, { value, isUnknown }]: [string, ResolvedArg]): [string, unknown][] {
  return isUnknown ? [] : [[key, value]];
}

interface FieldChange {
  readonly before: Properties;
  readonly inputs: Properties;
  readonly isChanged: boolean;
}

function describeChange(field: string, arg: Arg, { before, inputs, isChanged }: FieldChange): string[] {
  if (arg.parts) return describeParts(field, arg.parts, before[field], inputs[field]);
  // The value may also be secret.
  if (arg.isUnknown) return [`${field}: to a value that is not known yet`];
  if (!isChanged) return [];
  if (arg.isSecret) return [`${field}: [secret]`];
  const [from, to] = [before[field], inputs[field]].map((value) => JSON.stringify(value));
  return [from === undefined ? `${field}: ${to}` : `${field}: ${from} → ${to}`];
}

/**
 * Lists the keys whose values change. The values are left out, because the current ones may be
 * secret.
 */
function describeParts(
  field: string,
  parts: Readonly<Record<string, ResolvedArg>>,
  before: unknown,
  after: unknown,
): string[] {
  const [from, to] = [objectOrEmpty(before), objectOrEmpty(after)];
  const isSet = (key: string) => parts[key]?.isUnknown === false && from[key] !== to[key];
  const keys = Object.keys(parts).sort();
  const set = keys.filter(isSet);
  const unknown = keys.filter((key) => parts[key]?.isUnknown);
  return [
    ...(set.length > 0 ? [`${field}: sets ${set.join(", ")}`] : []),
    ...(unknown.length > 0 ? [`${field}: sets ${unknown.join(", ")} to a value that is not known yet`] : []),
  ];
}
