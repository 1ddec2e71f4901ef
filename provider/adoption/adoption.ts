import type * as pulumi from "@pulumi/pulumi";
import { type InputProblem, InvalidInputError, NameTakenError, NotFoundError } from "../../sdk/errors";
import type { FieldTable } from "../../sdk/records/fields";
import { changedIn } from "../fields/managed";
import { secretFields } from "../hideSecretInputs";
import { log } from "../log";
import type { ServiceRecord } from "../machine/machineRecord";
import { afterOtherDeletion } from "../ownership/deletions";
import { recordedAs, returnToFormerOwner, wasAdoptedFrom } from "../ownership/lastAdopter";
import { claimForAdoption, claimsOfOthers, noteChecked, ownerOf, release } from "../ownership/owners";
import { objectOrEmpty, type Properties, UNKNOWN } from "../properties";

/** Returns the result of `check` after a new resource has claimed the record that it adopts. */
export function claimChecked(
  oldInputs: Properties,
  newInputs: Properties,
  { inputs, problems }: { readonly inputs: Properties; readonly problems: InputProblem[] },
): pulumi.dynamic.CheckResult {
  const { adoptId } = inputs;
  const isNew = Object.keys(oldInputs).length === 0;
  noteChecked(newInputs, isNew);
  if (isNew && adoptId !== undefined) inputs.__adopter = true;
  if (isNew && adoptId !== undefined && adoptId !== UNKNOWN) {
    if (!claimForAdoption(String(adoptId), newInputs))
      problems.push({ property: "adoptId", message: `another resource also adopts ${adoptId}. Keep one of them` });
  }
  return { inputs, failures: problems.map(({ property, message }) => ({ property, reason: message })) };
}

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

/**
 * Returns `true` if the record must not be deleted together with its resource, because another
 * resource has adopted it. The resource then gives up its claim.
 * @throws InvalidInputError if another resource was supposed to adopt the record but has not,
 * because no state would contain the record
 */
export async function isLeftToAdopter(noun: string, id: string, outputs: Properties): Promise<boolean> {
  const owner = ownerOf(outputs);
  const others = claimsOfOthers(id, owner);
  const isHeld = others.some(({ standing }) => standing === "held");
  const why = others.find(({ standing }) => standing === "failed") ?? others[0];
  if (why && !isHeld) refuseUntilAdopted(noun, id, why.reason);
  const name = String(outputs.name ?? id);
  const adoptee = recordedAs(noun, { id, outputs });
  if (isHeld) {
    release(id, owner);
    returnToFormerOwner(adoptee, owner);
    log(
      name,
      `warning: ${noun} ${id} is not deleted, because another resource in the program has adopted it, or this resource ` +
        "adopts it again. Only this resource's entry is removed from state",
    );
    return true;
  }
  if (wasAdoptedFrom(adoptee, owner)) await afterOtherDeletion(id);
  if (wasAdoptedFrom(adoptee, owner)) refuseForAdopter(adoptee);
  return false;
}

/**
 * Refuses to delete a record that another resource adopted. That resource may be in another stack
 * or may no longer exist; no handler can tell.
 */
function refuseForAdopter({ noun, id }: ServiceRecord): never {
  const message = [
    `${noun} ${id} is not deleted, and this resource stays in state, because another resource adopted the ${noun} in an ` +
      "earlier run on this machine.",
    `If that resource is in this stack, remove this one from the program and run pulumi up without --target: the ${noun} is kept.`,
    "If it is in another stack, remove this resource with pulumi state delete.",
    `If it no longer exists, set adoptId: "${id}" in this resource, run pulumi up, and then delete this resource`,
  ].join("\n");
  throw new InvalidInputError("the deletion", [{ property: "adoptId", message }]);
}

function refuseUntilAdopted(noun: string, id: string, reason: string | undefined): never {
  const kept = `${noun} ${id} is not deleted, and this resource stays in state, because the resource that should adopt the ${noun}`;
  const message = reason
    ? `${kept} has not: ${reason}. Fix that, and run pulumi up again`
    : [
        `${kept} has not done so yet. Fix the other errors of this run, if any, and run pulumi up without --target.`,
        "If you are replacing this resource, remove its option deleteBeforeReplace: while adoptId is set, a replacement keeps " +
          `the ${noun}. To replace the ${noun} as well, remove adoptId instead`,
      ].join("\n");
  throw new InvalidInputError("the deletion", [{ property: "adoptId", message }]);
}

/**
 * Refuses to create a record if another one already uses the name. A matching name does not prove
 * ownership: a copy of the program on another machine produces the same name, and so does a
 * resource whose logical name has changed.
 * @param one the kind with its article, such as `an endpoint`
 * @throws NameTakenError always
 */
export function refuseTakenName(one: string, existing: readonly { readonly id: string }[], name: unknown): never {
  const ids = existing.map(({ id }) => id);
  const noun = withoutArticle(one);
  throw new NameTakenError(
    [
      `${one} named "${name}" already exists: ${ids.join(", ")}. No ${noun} was created, because two ${noun}s with one name ` +
        "are easily confused.",
      `If you have renamed this resource in the program, keep its ${noun} with the resource option ` +
        'aliases: [{ name: "<previous logical name>" }].',
      "If you have moved it into or out of a component, keep it with aliases: [{ parent: <previous parent> }]. " +
        "pulumi.rootStackResource stands for no parent. If you have also renamed it, put both in one alias.",
      `If a preview shows "delete original" for this ${noun}, a replacement has failed. Give this resource another logical ` +
        `name and adoptId: "${ids[0]}": the ${noun} is then neither deleted nor replaced.`,
      `If the ${noun} belongs to another resource, stack or person, or is to be replaced, give this resource another name.`,
      `Only if nothing else manages it (for example, an interrupted run left it), set adoptId: "${ids[0]}"`,
    ].join("\n"),
    ids,
  );
}

/**
 * Refuses to adopt another record for a resource that already manages one.
 * @throws InvalidInputError if `adoptId` refers to another record
 */
export function refuseOtherId(one: string, id: string, { adoptId }: Properties): void {
  if (adoptId === undefined || adoptId === id || adoptId === UNKNOWN) return;
  const message =
    `is ${adoptId}, but this resource has ${withoutArticle(one)} ${id} already. Only a new resource can adopt ${one}: ` +
    "declare another resource for it, or remove adoptId";
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
