import { randomBytes } from "node:crypto";
import type { InputProblem } from "../../sdk/errors";
import { defaultsOf } from "../../sdk/records/fields";
import { missingFields } from "../../sdk/records/input";
import { containsUnknown, type Properties, pick, SECONDS, UNKNOWN } from "../properties";
import { nameAutomatically, removedFields } from "./naming";
import { checkOwnInputs, commonRules, type OwnRules } from "./ownInputs";

import type { RecordKind } from "./recordKind";

const RANDOM_DIGITS = 7;

/** The random digits at the end of a name. A name that `pulumi:autonaming` decides may have none. */
const ENDING = new RegExp(`-[0-9a-f]{${RANDOM_DIGITS}}$`);

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
    : nameAutomatically(oldInputs, given.name, proposedName ?? newName(kind, automaticName, given));
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
  const present = { ...known, ...unknown, ...checked.fields, ...(isAdopted ? { name: given.name ?? "" } : {}) };
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

/** Returns a name with new random digits if names must be unique: a deleted one may be reserved. */
function newName(
  { hasUniqueNames, nameSuffix }: Pick<InputKind, "hasUniqueNames" | "nameSuffix">,
  automaticName: unknown,
  given: Properties,
): unknown {
  if (typeof automaticName !== "string" || automaticName === UNKNOWN) return automaticName;
  if (!hasUniqueNames) return `${automaticName}${nameSuffix?.(given) ?? ""}`;
  return `${automaticName}-${randomBytes(RANDOM_DIGITS).toString("hex").slice(0, RANDOM_DIGITS)}`;
}

/** Returns an automatic name with other digits; `undefined` for one that does not end with digits. */
export function otherName(kind: Pick<InputKind, "hasUniqueNames">, name: string): string | undefined {
  if (!kind.hasUniqueNames || !ENDING.test(name)) return undefined;
  return String(newName(kind, name.replace(ENDING, ""), {}));
}
