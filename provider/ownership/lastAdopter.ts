import { readRecord, removeRecord, type Subject, writeRecord } from "../machine/machineRecord";
import { drawnAt } from "./owners";

/*
 * Under `--target`, the engine compares only some resources, so that the claims of a deployment do
 * not show who has adopted an object in an earlier one. This machine's record does.
 */

/** An object of the service. */
export interface Adoptee {
  /** The output that records its account. It begins with the service. */
  readonly account: unknown;
  readonly noun: string;
  readonly id: string;
}

/** Records who has adopted the object. */
export function recordAdopter(adoptee: Adoptee, owner: string): void {
  writeRecord(subjectOf(adoptee), { owner });
}

/**
 * Returns `true` if a resource other than this one has adopted the object on this machine. A
 * resource that got the object later, perhaps on another machine, has it now.
 */
export function wasAdoptedFrom(adoptee: Adoptee, owner: string): boolean {
  const adopter = readRecord(subjectOf(adoptee))?.owner;
  return typeof adopter === "string" && adopter !== owner && drawnAt(owner) <= drawnAt(adopter);
}

/** Removes the record of the adopter if it is this resource, and the object stays with another. */
export function returnToFormerOwner(adoptee: Adoptee, owner: string): void {
  if (readRecord(subjectOf(adoptee))?.owner === owner) forgetAdopter(adoptee);
}

/** Removes the record of an object that is deleted. */
export function forgetAdopter(adoptee: Adoptee): void {
  removeRecord(subjectOf(adoptee));
}

function subjectOf({ account, noun, id }: Adoptee): Subject {
  const [service = ""] = String(account ?? "").split(" ");
  return { service, noun: `owner of ${noun}`, key: id };
}
