import type * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../sdk/errors";
import type { NamedRecord } from "../../sdk/records/listed";
import { checkedOptions, type Declaration, type Values } from "../program/programChecks";
import { secretInputs } from "../program/secretInputs";
import type { ResourceType } from "../resourceTypes";
import { secondAdoption } from "./adoptIds";
import { automaticName } from "./automaticName";
import type { InputKind } from "./recordInputs";
import type { RecordKind } from "./recordKind";

/** A class of resources whose handlers are `recordHandlers`. */
export interface RecordClass<T extends NamedRecord> extends ResourceType {
  readonly kind: Declaration["kind"];
  /** One of its records in messages, such as `a template`. */
  readonly one: string;
  /** Loads the rules, which programs need only when they check arguments. */
  readonly loadKind: () => RecordKind<T>;
}

/** The arguments that every class has. */
interface CommonArgs {
  readonly name?: pulumi.Input<string | undefined>;
  readonly adoptId?: pulumi.Input<string>;
}

/** Returns the arguments of the constructor of `CustomResource`, after the checks that the program itself can make. */
export function registration<T extends NamedRecord>(
  { type, provider, kind, one, outputs, loadKind }: RecordClass<T>,
  name: string,
  args: (CommonArgs & object) | undefined,
  options: pulumi.CustomResourceOptions,
  otherProblems: readonly InputProblem[] = [],
): [type: string, name: string, properties: pulumi.Inputs, options: pulumi.CustomResourceOptions] {
  const problems = [...secondAdoption(one, name, args?.adoptId), ...otherProblems];
  const findProblems = (values: Values, unknown: unknown) => (args ? problemsOf(loadKind(), values, unknown) : []);
  const checked = checkedOptions({ kind, type, name, args: args ?? {}, options, problems, findProblems });
  // The engine fills in only properties that are there when the resource is registered.
  const unresolved = Object.fromEntries(outputs.map((output) => [output, undefined]));
  const properties = args ? declared(name, args, options.parent) : { __mustExist: true };
  return [type, name, { ...unresolved, ...properties, ...secretInputs(args ?? {}), __provider: provider }, checked];
}

function declared(name: string, args: CommonArgs & object, parent: pulumi.Resource | undefined): pulumi.Inputs {
  // An output may resolve to undefined, which is not a name.
  if (typeof args.name === "string" || args.name === null) return { ...args };
  // `check` decides whether to use it: a record keeps its first name.
  return { ...args, automaticName: automaticName(name, parent) };
}

/** Returns the problems that do not depend on the previous inputs. The provider has those, and finds the other problems. */
function problemsOf(kind: InputKind, values: Values, unknown: unknown): InputProblem[] {
  const { checkRecordInputs } = require("./recordInputs") as typeof import("./recordInputs");
  const { name = unknown, ...others } = values;
  return checkRecordInputs({ ...kind, problemsOfChange: () => [] }, { name: unknown }, { name, ...others }).problems;
}
