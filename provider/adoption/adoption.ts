import type { Capabilities } from "../../sdk/contract/capabilities";
import { InvalidInputError, NameTakenError, NotFoundError } from "../../sdk/errors/errors";
import type { FieldTable } from "../../sdk/records/fields";
import type { NamedRecord } from "../../sdk/records/listed";
import { secretFields } from "../engine/forEngine";
import { objectOrEmpty, type Properties, UNKNOWN } from "../engine/properties";
import { changedIn } from "../fields/managed";
import type { AdoptableKind } from "./comparison";

/**
 * Returns the record that `adoptId` refers to.
 * @throws NotFoundError if it was not found
 */
export function existingAdoptee<T>(found: T | undefined, noun: string, id: string): T {
  if (found !== undefined) return found;
  throw new NotFoundError(
    `${noun} ${id}, the program's adoptId, does not exist in this account. Check the id and the API key. If it was ` +
      `deleted, remove adoptId from the program to create a new ${noun}`,
  );
}

/** Returns the error for a record that must not be adopted. */
export function refusedAdoption(refusal: string): NotFoundError {
  return new NotFoundError(refusal);
}

/**
 * Refuses to create a record if another one already uses the name. A matching name does not prove
 * ownership: a copy of the program on another machine produces the same name, and so does a
 * resource whose logical name has changed.
 * @throws NameTakenError always
 */
export function refuseTakenName(
  { one, noun, unchangeable }: Pick<AdoptableKind<NamedRecord>, "one" | "noun" | "unchangeable">,
  capabilities: Capabilities,
  existing: readonly { readonly id: string }[],
  name: unknown,
): never {
  const ids = existing.map(({ id }) => id);
  const fixed = unchangeable?.(capabilities);
  const interrupted =
    `If a preview shows "delete original" for this ${noun}, a replacement was interrupted. To complete it, run pulumi up ` +
    "again.";
  const ways = fixed
    ? [
        interrupted,
        `Otherwise, give this resource another name. The existing ${noun} cannot be adopted, because ${fixed.reason}. If nothing ` +
          "uses it, delete it in the service's console",
      ]
    : [
        [
          interrupted,
          `To keep the ${noun}, give this resource another logical name, and set adoptId to "${ids[0]}".`,
        ].join(" "),
        `If the ${noun} belongs to another resource, stack or person, or is to be replaced, give this resource another name.`,
        `If nothing else manages it (for example, because a killed run of this stack created it), set adoptId to "${ids[0]}", run ` +
          "pulumi up, and then remove adoptId again",
      ];
  throw new NameTakenError(
    [
      `${one} named "${name}" already exists: ${ids.join(", ")}. No ${noun} was created, because two ${noun}s with one name ` +
        "are easily confused.",
      `If you have renamed this resource, or moved it into or out of a component, keep its ${noun}: add its previous URN to the ` +
        "resource option aliases. To see the URN, run: pulumi stack --show-urns",
      ...ways,
    ].join("\n"),
    ids,
  );
}

/**
 * Returns `true` if the program's `adoptId` names a different record from the one that the resource
 * manages.
 */
export function adoptsOther(id: string, { adoptId }: Properties): boolean {
  return adoptId !== undefined && adoptId !== id && adoptId !== UNKNOWN;
}

/**
 * Refuses to adopt another record for a resource that already manages one.
 * @throws InvalidInputError always
 */
export function refuseOtherId(one: string, id: string, { adoptId }: Properties): never {
  const message =
    `is ${adoptId}, but this resource has ${withoutArticle(one)} ${id} already. Only a new resource can adopt ${one}: ` +
    "declare another resource for it under another logical name, or remove adoptId";
  throw new InvalidInputError("the program", [{ property: "adoptId", message }]);
}

/**
 * Describes the changes of an update, such as `gpuIds "A" → "B", workersMax 3 → 2`. Values of
 * secret inputs and variables are left out.
 */
export function describeChanges(table: FieldTable, before: Properties, after: Properties, inputs: Properties): string {
  const secret = secretFields(inputs);
  const changes = changedIn(table, before, after).map((field) => {
    if (secret.includes(field)) return `${field} [secret]`;
    if (typeof after[field] === "object") return `${field} (${changedKeys(before[field], after[field]).join(", ")})`;
    return `${field} ${JSON.stringify(before[field])} → ${JSON.stringify(after[field])}`;
  });
  return changes.length === 0 ? NO_CHANGE : `changed ${changes.join(", ")}`;
}

/** Reports that an adoption changed nothing. */
export const NO_CHANGE = "nothing changed";

/** Returns the keys whose values differ. */
function changedKeys(before: unknown, after: unknown): string[] {
  const [one, other] = [objectOrEmpty(before), objectOrEmpty(after)];
  return Object.keys({ ...one, ...other }).filter((key) => one[key] !== other[key]);
}

function withoutArticle(one: string): string {
  return one.replace(/^an? /, "");
}
