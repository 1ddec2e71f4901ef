import { isDeepStrictEqual } from "node:util";
import type { InputProblem } from "../../sdk/errors/errors";
import { defaultsOf, type FieldTable } from "../../sdk/records/fields";
import { missingFields, noSuchProperty } from "../../sdk/records/input";
import type { ReadConfig } from "../connection/config";
import { containsUnknown, type Properties, pick, UNKNOWN } from "../engine/properties";
import { nameAutomatically, stableName } from "./naming";
import { checkOwnInputs, commonRules, type OwnRules } from "./ownInputs";

/** The rules for the inputs of a kind of resource. */
export interface InputKind {
  /** The phrase for a single record of this kind in messages, such as `a template`. */
  readonly one: string;
  readonly table: FieldTable;
  /**
   * `true` if the service requires unique names. Automatic names are then generated when the record
   * is created. @default false
   */
  readonly hasUniqueNames?: boolean;
  /**
   * Returns the suffix of an automatic name. A replacement that is created while the old record
   * still exists needs a different name.
   */
  readonly nameSuffix?: (inputs: Properties) => string;
  /** The rules for inputs that only this kind has and that are not fields of RunPod. */
  readonly ownRules?: OwnRules;
  /** Returns each valid field in normal form, and the problems with the invalid ones. */
  readonly checkFields: (input: Properties, readConfig: ReadConfig) => { fields: object; problems: InputProblem[] };
  /** The fields whose validation reads the config. */
  readonly configuredFields?: readonly string[];
  /** Returns a program's inputs together with the inputs that they imply. */
  readonly completed?: (inputs: Properties) => Properties;
  /**
   * Returns `true` if a field keeps its value, instead of returning to its default, when the
   * program removes it.
   */
  readonly staysUnset?: (field: string, inputs: Properties) => boolean;
  /**
   * Returns the problems that arise from a combination of fields. If the record `isNew`, fields
   * that are absent count as their defaults.
   */
  readonly crossFieldProblems?: (fields: Properties, isNew: boolean) => InputProblem[];
  /** Returns the problems with changing the old inputs to the new ones. */
  readonly problemsOfChange?: (oldInputs: Properties, inputs: Properties) => InputProblem[];
}

/** The provider's own inputs that decide the name of a record. */
const NAMING = ["__automaticName"];

const rulesOfKinds = new WeakMap<object, OwnRules>();

function rulesOf(kind: Pick<InputKind, "one" | "ownRules">): OwnRules {
  const rules = rulesOfKinds.get(kind) ?? { ...commonRules(kind.one), ...kind.ownRules };
  rulesOfKinds.set(kind, rules);
  return rules;
}

/** Returns the inputs that only the provider uses. */
export function ownInputs(kind: InputKind, inputs: Properties): Properties {
  const rules = rulesOf(kind);
  return pick(inputs, (name) => Object.hasOwn(rules, name));
}

/**
 * Returns `true` if the provider's own inputs differ. They can change without any change at the
 * service.
 */
export function changesOwnInputs(kind: InputKind, outputs: Properties, inputs: Properties): boolean {
  const names = Object.keys(rulesOf(kind)).filter((name) => !NAMING.includes(name));
  return names.some((name) => !isDeepStrictEqual(inputs[name], outputs[name]));
}

/**
 * Converts a program's inputs to normal form, so that inputs with the same meaning are equal.
 * @param oldInputs the inputs of the last run in normal form; empty for a new resource
 */
export function checkRecordInputs(
  kind: InputKind,
  oldInputs: Properties,
  newInputs: Properties,
  readConfig: ReadConfig,
): { readonly inputs: Properties; readonly problems: InputProblem[] } {
  const { __provider, automaticName, proposedName, ...declared } = newInputs;
  // An adopted record keeps its own name, even after the program removes adoptId.
  const isAdopted = declared.adoptId != null || oldInputs.__automaticName === false;
  const naming = isAdopted
    ? { __automaticName: false }
    : nameAutomatically(oldInputs, declared.name, newName(kind, automaticName, proposedName, declared));
  const entries = Object.entries({
    ...(kind.completed?.(declared) ?? declared),
    ...naming,
    ...removedFields(kind, oldInputs, declared),
  }).filter(([, value]) => value !== undefined);
  const rules = rulesOf(kind);
  // A property that doesn't exist is always a mistake, even while its value is unknown.
  const isKnownName = (name: string) => Object.hasOwn(rules, name) || Object.hasOwn(kind.table, name);
  const isUnknown = ([name, value]: [string, unknown]) => isKnownName(name) && containsUnknown(value);
  const unknown = Object.fromEntries(entries.filter(isUnknown).map(([name]) => [name, UNKNOWN]));
  const known = Object.fromEntries(entries.filter((entry) => !isUnknown(entry)));

  const own = checkOwnInputs(
    rules,
    pick(known, (name) => Object.hasOwn(rules, name)),
  );
  const otherInputs = pick(known, (name) => !Object.hasOwn(rules, name));
  const checked = kind.checkFields(otherInputs, readConfig);
  const isNamedLater = isAdopted || naming.__automaticName !== undefined;
  const present = { ...known, ...unknown, ...checked.fields, ...(isNamedLater ? { name: declared.name ?? "" } : {}) };
  const inputs = { ...checked.fields, ...own.inputs, ...unknown, __provider };
  const isNew = Object.keys(oldInputs).length === 0;
  return {
    inputs,
    problems: [
      ...own.problems,
      ...checked.problems.map((problem) => (isKnownName(problem.property) ? problem : unknownProperty(kind, problem))),
      ...missingFields(kind.table, present),
      ...(kind.crossFieldProblems?.(present, isNew && !isAdopted) ?? []),
      ...(isNew ? [] : (kind.problemsOfChange?.(oldInputs, inputs) ?? [])),
    ],
  };
}

/**
 * Returns a problem that lists the provider's own inputs along with RunPod's fields, instead of
 * RunPod's fields alone.
 */
function unknownProperty(kind: InputKind, { property }: InputProblem): InputProblem {
  const own = Object.keys(rulesOf(kind)).filter((name) => !name.startsWith("__"));
  const startCommand = Object.hasOwn(kind.table, "dockerArgs") ? ["command"] : [];
  return { property, message: noSuchProperty(property, [...Object.keys(kind.table), ...startCommand, ...own]) };
}

/**
 * Returns the problems with a program's inputs that do not depend on the previous inputs. The
 * remaining problems are found by the provider, which knows the previous inputs.
 * @param unknown the placeholder for values that are not known
 * @param readConfig `undefined` if the config is not known
 */
export function problemsWithoutState(
  kind: InputKind,
  { name, ...values }: Properties,
  unknown: unknown,
  readConfig: ReadConfig | undefined,
): InputProblem[] {
  const unsure = readConfig ? [] : (kind.configuredFields ?? []).filter((field) => values[field] !== undefined);
  const inputs = {
    name: name === undefined ? unknown : name,
    ...values,
    ...Object.fromEntries(unsure.map((field) => [field, unknown])),
  };
  const stateless = { ...kind, problemsOfChange: () => [] };
  return checkRecordInputs(stateless, { name: unknown }, inputs, readConfig ?? (() => undefined)).problems;
}

/**
 * Returns `null`, which restores the default, for each field that the program has removed. After an
 * import, the program has removed nothing yet.
 */
function removedFields({ table, staysUnset }: InputKind, oldInputs: Properties, newInputs: Properties): Properties {
  if (oldInputs.__imported !== undefined) return {};
  const nulls = Object.keys(defaultsOf(table)).map((field) => [field, null]);
  return pick(
    Object.fromEntries(nulls),
    (field) => field in oldInputs && newInputs[field] === undefined && !staysUnset?.(field, newInputs),
  );
}

/**
 * Returns the inputs that give a name to a resource without one. A name that must be unique is
 * generated only when the record is created, because the name of a deleted record may still be
 * reserved. Until then, `__automaticName` contains a string that identifies the resource.
 */
function newName(
  { hasUniqueNames, nameSuffix }: Pick<InputKind, "hasUniqueNames" | "nameSuffix">,
  automaticName: unknown,
  proposedName: unknown,
  declared: Properties,
): Properties {
  if (!hasUniqueNames) return stableName(proposedName ?? withSuffix(automaticName, nameSuffix?.(declared)));
  if (typeof automaticName !== "string") return {};
  return { __automaticName: automaticName, ...(proposedName === undefined ? {} : { name: proposedName }) };
}

function withSuffix(name: unknown, suffix = ""): unknown {
  return typeof name === "string" && name !== UNKNOWN ? `${name}${suffix}` : name;
}
