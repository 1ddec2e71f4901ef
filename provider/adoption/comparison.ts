import type { Capabilities } from "../../sdk/contract/capabilities";
import { fixedIn } from "../../sdk/records/fields";
import type { NamedRecord } from "../../sdk/records/listed";
import { changedIn } from "../fields/managed";
import type { InputKind } from "../fields/recordInputs";
import { type Properties, pick } from "../properties";

/** The fields that a management interface cannot change, and the advice in messages about them. */
interface Unchangeable {
  readonly fields: readonly string[];
  /**
   * The message for a name that should stay although names are unique: a new record needs a new
   * name.
   */
  readonly sameName: string;
  /** The reason why a record cannot be adopted. */
  readonly adoption: string;
}

/** One kind's rules for adoptions. */
export interface AdoptableKind<T extends NamedRecord> extends Pick<InputKind, "one" | "table"> {
  /** The same as `one`, without the article. */
  readonly noun: string;
  /** Fields that the management interface cannot change, if there are any. */
  readonly unchangeable?: (capabilities: Capabilities) => Unchangeable | undefined;
  /** The fields that the service never shows. Adopting always sets them. */
  readonly hiddenFields?: readonly string[];
  /** Returns why a record must not be adopted; `undefined` if it may be. */
  readonly refusesAdoption?: (record: T, inputs: Properties) => string | undefined;
  /**
   * Returns the fields of a record as state holds them. `known` are the inputs, or the outputs of
   * the last run.
   */
  readonly toFields: (record: T, known: Properties) => Properties;
}

/** A record to adopt, and how it differs from the inputs. */
interface Comparison {
  /** Its fields now. Those that the service does not show are absent. */
  readonly before: Properties;
  /** The fields that adopting it sets. */
  readonly changed: readonly string[];
  /** Why it must not be adopted; `undefined` if it may be. */
  readonly refusal: string | undefined;
}

/** Compares a record with inputs in normal form. */
export function compareForAdoption<T extends NamedRecord>(
  kind: AdoptableKind<T>,
  found: T,
  inputs: Properties,
  capabilities: Capabilities,
): Comparison {
  const { one, table, hiddenFields = [], refusesAdoption } = kind;
  const before = kind.toFields(
    found,
    pick(inputs, (field) => !hiddenFields.includes(field)),
  );
  const changed = changedIn(table, before, inputs);
  const fixed = fixedIn(table, before, inputs).find((field) => changed.includes(field));
  const unchangeable = kind.unchangeable?.(capabilities);
  const reason =
    refusesAdoption?.(found, inputs) ??
    (changed.some((field) => unchangeable?.fields.includes(field)) ? unchangeable?.adoption : undefined) ??
    (fixed && `its ${fixed} is ${JSON.stringify(before[fixed])} and cannot be changed: correct ${fixed}`);
  const refusal = reason && `${one} with the id ${found.id} cannot be adopted: ${reason}`;
  return { before, changed, refusal };
}
