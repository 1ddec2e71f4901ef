import { isDeepStrictEqual } from "node:util";
import type { InputProblem } from "../../sdk/errors";
import { defaultsOf, type FieldTable } from "../../sdk/records/fields";
import { missingFields, noSuchProperty } from "../../sdk/records/input";
import type { ReadConfig } from "../connection/config";
import { containsUnknown, type Properties, pick, UNKNOWN } from "../properties";
import { nameAutomatically, stableName } from "./naming";
import { checkOwnInputs, commonRules, type OwnRules } from "./ownInputs";

/** One kind's rules for inputs. */
export interface InputKind {
  /** What messages call one of its records, such as `a template`. */
  readonly one: string;
  readonly table: FieldTable;
  /**
   * `true` if names are unique at the service: automatic ones are then drawn when a record is
   * created. @default false
   */
  readonly hasUniqueNames?: boolean;
  /**
   * Returns the end of an automatic name. A replacement that is created while the old record exists
   * needs a different name.
   */
  readonly nameSuffix?: (inputs: Properties) => string;
  /** The rules for inputs that only this kind has and that are not fields of the service. */
  readonly ownRules?: OwnRules;
  /** Returns each valid field in normal form, and the problems with the others. */
  readonly checkFields: (input: Properties, readConfig: ReadConfig) => { fields: object; problems: InputProblem[] };
  /** The fields whose check reads the config. */
  readonly configuredFields?: readonly string[];
  /** Returns a program's inputs together with those that they imply. */
  readonly completed?: (inputs: Properties) => Properties;
  /** Returns `true` for a field that does not return to its default when the program removes it. */
  readonly staysUnset?: (field: string, inputs: Properties) => boolean;
  /**
   * Returns the problems between fields. If the record `isNew`, an absent field counts as its
   * default.
   */
  readonly crossFieldProblems?: (fields: Properties, isNew: boolean) => InputProblem[];
  /** Returns the problems of a change. */
  readonly problemsOfChange?: (oldInputs: Properties, inputs: Properties) => InputProblem[];
}

/** The provider's own inputs that say which record a resource has. */
const IDENTITY = ["adoptId", "__adopter", "__automaticName"];

function rulesOf({ one, ownRules }: Pick<InputKind, "one" | "ownRules">): OwnRules {
  return { ...commonRules(one), ...ownRules };
}

/** Returns the inputs that the provider uses itself. */
export function ownInputs(kind: InputKind, inputs: Properties): Properties {
  const rules = rulesOf(kind);
  return pick(inputs, (name) => Object.hasOwn(rules, name));
}

/**
 * Returns `true` if there are differences in inputs that may change without a change at the
 * service.
 */
export function changesOwnInputs(kind: InputKind, outputs: Properties, inputs: Properties): boolean {
  const names = Object.keys(rulesOf(kind)).filter((name) => !IDENTITY.includes(name));
  return names.some((name) => !isDeepStrictEqual(inputs[name], outputs[name]));
}

/**
 * Converts a program's inputs to normal form, so that inputs with the same meaning are equal.
 * @param oldInputs the normal form of the last run; empty for a new resource
 */
export function checkRecordInputs(
  kind: InputKind,
  oldInputs: Properties,
  newInputs: Properties,
  readConfig: ReadConfig,
): { readonly inputs: Properties; readonly problems: InputProblem[] } {
  const { __provider, automaticName, proposedName, ...declared } = newInputs;
  // An adopted record has its own name, even after the program removes adoptId.
  const isAdopted = declared.adoptId != null || oldInputs.__adopter !== undefined;
  const naming = isAdopted
    ? { __adopter: oldInputs.__adopter }
    : nameAutomatically(oldInputs, declared.name, newName(kind, automaticName, proposedName, declared));
  const entries = Object.entries({
    ...(kind.completed?.(declared) ?? declared),
    ...naming,
    ...removedFields(kind, oldInputs, declared),
  }).filter(([, value]) => value !== undefined);
  const rules = rulesOf(kind);
  // A property that does not exist is always a mistake, even while its value is unknown.
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

/** Lists the fields of the service and those of the provider, in place of those of the service. */
function unknownProperty(kind: InputKind, { property }: InputProblem): InputProblem {
  const own = Object.keys(rulesOf(kind)).filter((name) => !name.startsWith("__"));
  return { property, message: noSuchProperty(property, [...Object.keys(kind.table), ...own]) };
}

/**
 * Returns the problems of a program's inputs that do not depend on the previous inputs. The
 * provider has those, and finds the other problems.
 * @param unknown stands for values that are not known
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

/** Returns `null`, which sets the default, for the fields that the program has removed. */
function removedFields({ table, staysUnset }: InputKind, oldInputs: Properties, newInputs: Properties): Properties {
  const nulls = Object.keys(defaultsOf(table)).map((field) => [field, null]);
  return pick(
    Object.fromEntries(nulls),
    (field) => field in oldInputs && newInputs[field] === undefined && !staysUnset?.(field, newInputs),
  );
}

/**
 * Returns the inputs for the name of a resource that has none yet. A name that must be unique is
 * drawn when the record is created, because a deleted one may be reserved; until then the inputs
 * hold what identifies the resource.
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
