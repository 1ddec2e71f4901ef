import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../../sdk/errors/errors";
import type { NamedRecord } from "../../../sdk/records/listed";
import type { PreviewedKind } from "../../adoption/description";
import { CONFIG_NAMESPACE, type ReadConfig } from "../../connection/config";
import type { Properties } from "../../engine/properties";
import type { RecordType } from "../../engine/resourceTypes";
import type { InputKind } from "../../fields/recordInputs";
import { secondAdoption } from "../program/adoptIds";
import { automaticName } from "../program/automaticName";
import type { AdoptingClass } from "../program/preview";
import { checkedOptions } from "../program/programChecks";
import { secretInputs } from "../program/secretInputs";
import { isUnitTest } from "../program/unitTest";
import { explicitSettings, ServerlessGpuProvider } from "./provider";

/** A resource class that uses `recordHandlers`. */
export interface RecordClass<T extends NamedRecord> extends RecordType, AdoptingClass<T> {
  readonly loadKind: () => InputKind & PreviewedKind<T>;
  /**
   * Loads the rules for the arguments. A program needs them only to check some arguments.
   * @default those of the kind
   */
  readonly loadInputs?: () => InputKind;
  /** `true` if a replacement deletes the old record first. If `adoptId` is set, `diff` decides. */
  readonly deletesBeforeReplace?: true;
}

/** The arguments of every class. */
interface CommonArgs {
  readonly name?: pulumi.Input<string | undefined>;
  readonly adoptId?: pulumi.Input<string> | undefined;
}

/**
 * Returns the arguments for the constructor of `CustomResource`, after the checks that the program
 * itself can make.
 * @param args `undefined` for a resource that is only read, which has no arguments to check
 */
export function registration<T extends NamedRecord>(
  { type, provider, one, outputs, loadKind, loadInputs = loadKind, deletesBeforeReplace }: RecordClass<T>,
  name: string,
  args: (CommonArgs & object) | undefined,
  options: pulumi.CustomResourceOptions,
  otherProblems: readonly InputProblem[] = [],
): [type: string, name: string, properties: pulumi.Inputs, options: pulumi.CustomResourceOptions] {
  const kind = type.slice(type.lastIndexOf(":") + 1);
  const problems = [...secondAdoption(one, name, args?.adoptId), ...otherProblems];
  const config = configOf(type, options);
  const findProblems = (values: Properties, unknown: unknown) => {
    if (!args) return [];
    const { problemsWithoutState }: typeof import("../../fields/recordInputs") = require("../../fields/recordInputs");
    return problemsWithoutState(loadInputs(), values, unknown, config());
  };
  const checked = checkedOptions({ kind, type, name, args: args ?? {}, options, problems, findProblems });
  // A record that was deleted cannot be adopted again, so the option must not override `diff`.
  const { deleteBeforeReplace: _, ...adopting } = checked;
  // The engine only fills in properties that exist when the resource is registered.
  const filled = args?.adoptId === undefined ? outputs : [...outputs, "__stamp"];
  const unresolved = Object.fromEntries(filled.map((output) => [output, undefined]));
  const given = args ? declared(name, args, options.parent) : { __mustExist: true };
  const properties = args && isUnitTest() ? withTexts(loadInputs(), given, config) : given;
  return [
    type,
    name,
    { ...unresolved, ...properties, ...(args && secretInputs(args, options)), __provider: provider },
    args?.adoptId === undefined ? { ...checked, ...(deletesBeforeReplace && { deleteBeforeReplace: true }) } : adopting,
  ];
}

/**
 * Returns the arguments with lists as the texts that outputs contain. Pulumi's mocks return the
 * arguments as outputs, and call no provider that would convert them.
 */
function withTexts(
  { table, checkFields }: InputKind,
  args: pulumi.Inputs,
  config: () => ReadConfig | undefined,
): pulumi.Inputs {
  const convert = (name: string, value: unknown) => {
    if (!Array.isArray(value)) return value;
    const fields: Properties = { ...checkFields({ [name]: value }, config() ?? (() => undefined)).fields };
    return fields[name] ?? value;
  };
  const entries = Object.entries(args).map(([name, value]: [string, unknown]) => {
    if (!Object.hasOwn(table, name) || !(Array.isArray(value) || pulumi.Output.isInstance(value))) return [name, value];
    const resolved: pulumi.Output<unknown> = pulumi.output<unknown>(value);
    return [name, resolved.apply((all) => convert(name, all))];
  });
  return Object.fromEntries(entries);
}

function declared(name: string, args: CommonArgs & object, parent: pulumi.Resource | undefined): pulumi.Inputs {
  // An output may resolve to undefined, which is not a name.
  if (typeof args.name === "string" || args.name === null) return { ...args };
  // `check` decides whether to use it, because a record keeps its first name.
  return { ...args, automaticName: automaticName(name, parent) };
}

/**
 * Returns a function that returns the config of the resource's provider, or `undefined` while it is
 * not known.
 */
function configOf(type: string, { provider, parent }: pulumi.CustomResourceOptions): () => ReadConfig | undefined {
  const explicit = provider ?? parent?.getProvider(type);
  if (!explicit) {
    const config = new pulumi.Config(CONFIG_NAMESPACE);
    return () => (name) => config.get(name);
  }
  let known: ReadConfig | undefined;
  if (explicit instanceof ServerlessGpuProvider) {
    explicitSettings(explicit).apply((settings) => {
      known = (name) => settings[name];
    });
  }
  return () => known;
}
