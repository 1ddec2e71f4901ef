import { InvalidInputError, NameTakenError } from "../../sdk/errors";
import type { FieldTable } from "../../sdk/records/fields";
import { secretFields } from "../hideSecretInputs";
import { type Properties, UNKNOWN } from "../properties";
import { changedIn } from "./managed";

/**
 * Refuses to create an object with a name that exists. A name does not prove ownership: a copy of the program on another
 * machine produces the same name, and so does a resource after a change of its logical name.
 * @param one its kind, such as `an endpoint`
 * @throws NameTakenError always
 */
export function refuseTakenName(one: string, existing: readonly { readonly id: string }[], name: unknown): never {
  const ids = existing.map(({ id }) => id);
  const noun = withoutArticle(one);
  throw new NameTakenError(
    `${one} named "${name}" exists already: ${ids.join(", ")}. No ${noun} was created, because two ` +
      `${noun}s with one name are easily confused. If you have renamed this resource in the program, keep its ${noun} with the resource ` +
      `option aliases: [{ name: "<former logical name>" }]. If the ${noun} belongs to another resource, stack or ` +
      "person, give this resource another name. Only if nothing else manages it (for example, an interrupted run left " +
      `it), set adoptId: "${ids[0]}"`,
    ids,
  );
}

/**
 * Refuses to adopt another object for a resource that has one.
 * @throws InvalidInputError if `adoptId` names another one
 */
export function refuseOtherId(one: string, id: string, { adoptId }: Properties): void {
  if (adoptId === undefined || adoptId === id || adoptId === UNKNOWN) return;
  const message =
    `is ${adoptId}, but this resource has ${withoutArticle(one)} ${id} already. Only a new resource can adopt ${one}: ` +
    "declare another resource for it, or remove adoptId";
  throw new InvalidInputError("the program", [{ property: "adoptId", message }]);
}

/**
 * Describes the changes of an update: `gpuIds "A" → "B", workersMax 3 → 2`, without the values of secret inputs and of
 * variables.
 */
export function describeChanges(table: FieldTable, before: Properties, after: Properties, inputs: Properties): string {
  const secret = secretFields(inputs);
  const changes = changedIn(table, before, after).map((field) => {
    if (secret.includes(field)) return `${field} [secret]`;
    if (typeof after[field] === "object") return `${field} (${changedKeys(before[field], after[field]).join(", ")})`;
    return `${field} ${JSON.stringify(before[field])} → ${JSON.stringify(after[field])}`;
  });
  return changes.length === 0 ? "no changes were needed" : `changed ${changes.join(", ")}`;
}

/** Returns the keys whose values differ. */
function changedKeys(before: unknown, after: unknown): string[] {
  const [one, other] = [before, after].map((value) => (value ?? {}) as Properties) as [Properties, Properties];
  return Object.keys({ ...one, ...other }).filter((key) => one[key] !== other[key]);
}

function withoutArticle(one: string): string {
  return one.replace(/^an? /, "");
}
