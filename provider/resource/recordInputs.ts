import type { InputProblem } from "../../sdk/errors";
import { defaultsOf } from "../../sdk/records/fields";
import { missingFields } from "../../sdk/records/input";
import { containsUnknown, type Properties, pick, SECONDS, UNKNOWN } from "../properties";
import { nameAutomatically, removedFields, stableName } from "./naming";
import { checkOwnInputs, commonRules, type OwnRules } from "./ownInputs";

import type { RecordKind } from "./recordKind";

/** The parts of a kind that decide about inputs. */
export type InputKind = Pick<
  RecordKind<never>,
  "one" | "table" | "hasUniqueNames" | "nameSuffix" | "ownRules" | "checkFields" | "problemsOfChange"
>;

function rulesOf({ one, ownRules }: Pick<InputKind, "one" | "ownRules">): OwnRules {
  return { ...commonRules(one), ...ownRules, deleteTimeout: SECONDS };
}

/** Returns the inputs that the provider uses itself. */
export function ownInputs(kind: InputKind, inputs: Properties): Properties {
  const rules = rulesOf(kind);
  return pick(inputs, (name) => Object.hasOwn(rules, name));
}

/**
 * Converts a program's inputs to normal form, so that inputs with the same meaning are equal.
 * @param oldInputs the normal form of the last run; empty for a new resource
 */
export function checkRecordInputs(
  kind: InputKind,
  oldInputs: Properties,
  newInputs: Properties,
): { readonly inputs: Properties; readonly problems: InputProblem[] } {
  const { __provider, automaticName, proposedName, ...given } = newInputs;
  // An adopted record has its own name, even after the program removes adoptId.
  const isAdopted = given.adoptId != null || oldInputs.__adopter !== undefined;
  const naming = isAdopted
    ? { __adopter: oldInputs.__adopter }
    : nameAutomatically(oldInputs, given.name, newName(kind, automaticName, proposedName, given));
  const entries = Object.entries({
    ...given,
    ...naming,
    ...removedFields(defaultsOf(kind.table), oldInputs, given),
  }).filter(([, value]) => value !== undefined);
  const rules = rulesOf(kind);
  const isKnownName = (name: string) => Object.hasOwn(rules, name) || Object.hasOwn(kind.table, name);
  const isUnknown = ([name, value]: [string, unknown]) => isKnownName(name) && containsUnknown(value);
  const unknown = Object.fromEntries(entries.filter(isUnknown).map(([name]) => [name, UNKNOWN]));
  const known = Object.fromEntries(entries.filter((entry) => !isUnknown(entry)));

  const own = checkOwnInputs(
    rules,
    pick(known, (name) => Object.hasOwn(rules, name)),
  );
  const checked = kind.checkFields(pick(known, (name) => !Object.hasOwn(rules, name)));
  const isNamedLater = isAdopted || naming.__automaticName !== undefined;
  const present = { ...known, ...unknown, ...checked.fields, ...(isNamedLater ? { name: given.name ?? "" } : {}) };
  const inputs = { ...checked.fields, ...own.inputs, ...unknown, __provider };
  const isNew = Object.keys(oldInputs).length === 0;
  return {
    inputs,
    problems: [
      ...own.problems,
      ...checked.problems,
      ...missingFields(kind.table, present),
      ...(isNew ? [] : (kind.problemsOfChange?.(oldInputs, inputs) ?? [])),
    ],
  };
}

/**
 * Returns the inputs for the name of a resource that has none yet. A name that must be unique is drawn when the record is
 * created, because a deleted one may be reserved; until then the inputs hold what identifies the resource.
 */
function newName(
  { hasUniqueNames, nameSuffix }: Pick<InputKind, "hasUniqueNames" | "nameSuffix">,
  automaticName: unknown,
  proposedName: unknown,
  given: Properties,
): Properties {
  if (!hasUniqueNames) return stableName(proposedName ?? withSuffix(automaticName, nameSuffix?.(given)));
  if (typeof automaticName !== "string") return {};
  return { __automaticName: automaticName, ...(proposedName === undefined ? {} : { name: proposedName }) };
}

function withSuffix(name: unknown, suffix = ""): unknown {
  return typeof name === "string" && name !== UNKNOWN ? `${name}${suffix}` : name;
}
