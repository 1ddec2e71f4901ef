import type { Capabilities } from "../../sdk/contract/capabilities";
import type { NamedRecord } from "../../sdk/records/listed";
import { type Properties, pick } from "../properties";
import { changedIn } from "./managed";
import type { RecordKind } from "./recordKind";

/** The parts of a kind that decide about adoptions. */
export type AdoptableKind<T extends NamedRecord> = Pick<
  RecordKind<T>,
  "one" | "noun" | "table" | "fixedFields" | "unchangeable" | "hiddenFields" | "refusesAdoption" | "toFields"
>;

/** A record to adopt, compared with the inputs. */
export interface Adoption {
  /** Its fields now. Those that the service does not show are absent. */
  readonly before: Properties;
  /** The fields that the adoption sets. */
  readonly changed: readonly string[];
  /** The reason why it must not be adopted, if there is one. */
  readonly refusal: string | undefined;
}

/** Compares a record with inputs in normal form. */
export function compareForAdoption<T extends NamedRecord>(
  kind: AdoptableKind<T>,
  found: T,
  inputs: Properties,
  capabilities: Capabilities,
): Adoption {
  const { one, table, fixedFields, hiddenFields = [], refusesAdoption } = kind;
  const before = kind.toFields(
    found,
    pick(inputs, (field) => !hiddenFields.includes(field)),
  );
  const changed = changedIn(table, before, inputs);
  const fixed = changed.find((field) => fixedFields.includes(field));
  const unchangeable = kind.unchangeable?.(capabilities);
  const reason =
    refusesAdoption?.(found, inputs) ??
    (changed.some((field) => unchangeable?.fields.includes(field)) ? unchangeable?.adoption : undefined) ??
    (fixed && `its ${fixed} is ${JSON.stringify(before[fixed])} and cannot be changed: correct ${fixed}`);
  const refusal = reason && `${one} with the id ${found.id} cannot be adopted: ${reason}`;
  return { before, changed, refusal };
}
