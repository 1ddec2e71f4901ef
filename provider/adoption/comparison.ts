import type { Capabilities } from "../../sdk/contract/capabilities";
import { fixedIn } from "../../sdk/records/fields";
import type { NamedRecord } from "../../sdk/records/listed";
import { type Properties, pick } from "../engine/properties";
import { changedIn } from "../fields/managed";
import type { InputKind } from "../fields/recordInputs";
import { declaredSettings, differing } from "../fields/settings";

/** The fields that an API cannot change, and the advice that messages give about them. */
interface Unchangeable {
  readonly fields: readonly string[];
  /** Why they cannot be changed. */
  readonly reason: string;
  /**
   * The message if a replacement keeps a name that must be unique, although the new record needs
   * another one.
   */
  readonly sameName: string;
  /** The message that follows the reason if the record should be adopted. */
  readonly adoption: string;
}

/** A kind's adoption rules. */
export interface AdoptableKind<T extends NamedRecord> extends Pick<InputKind, "one" | "table"> {
  /** Same as `one`, without the article. */
  readonly noun: string;
  /** The fields that the API cannot change, if any. */
  readonly unchangeable?: (capabilities: Capabilities) => Unchangeable | undefined;
  /** Fields that RunPod never shows. Adopting a record always sets them. */
  readonly hiddenFields?: readonly string[];
  /** Returns why a record must not be adopted; `undefined` if it may be adopted. */
  readonly refusesAdoption?: (record: T, inputs: Properties) => string | undefined;
  /**
   * Returns a record's fields as stored in state. `known` contains the inputs or the last run's
   * outputs.
   */
  readonly toFields: (record: T, known: Properties) => Properties;
}

/** A record to adopt, and how it differs from the inputs. */
export interface Comparison {
  /** The record's current fields. Fields that RunPod does not show are absent. */
  readonly before: Properties;
  /** The settings that the adoption changes, with each variable as a separate setting. */
  readonly changed: readonly string[];
  /** Why the record must not be adopted; `undefined` if it may be adopted. */
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
  const { unshown = [] } = found;
  const shown = kind.toFields(
    found,
    pick(inputs, (field) => !hiddenFields.includes(field)),
  );
  const before = pick(shown, (field) => shown[field] !== undefined && !unshown.includes(field));
  const fields = changedIn(table, before, inputs);
  const changed = Object.keys(differing(table, declaredSettings(table, inputs, {}), before));
  const fixed = fixedIn(table, before, inputs).find((field) => fields.includes(field));
  const unchangeable = kind.unchangeable?.(capabilities);
  const reason =
    refusesAdoption?.(found, inputs) ??
    (unchangeable && fields.some((field) => unchangeable.fields.includes(field))
      ? `${unchangeable.reason}, ${unchangeable.adoption}`
      : undefined) ??
    (fixed && `its ${fixed} is ${JSON.stringify(before[fixed])} and cannot be changed: set ${fixed} to that value`);
  const refusal = reason && `${one} with the id ${found.id} cannot be adopted: ${reason}`;
  return { before, changed, refusal };
}
