import { readRecord, removeRecord, type Subject, writeRecord } from "../machine/machineRecord";
import { drawnAt } from "./owners";

/*
 * Under `--target`, the engine compares only some resources, so a deployment's claims do not show
 * which resource adopted a record in an earlier one. The machine record does.
 */

/** A record at the service. */
export interface Adoptee {
  /** The output that holds its account. It begins with the service. */
  readonly account: unknown;
  readonly noun: string;
  readonly id: string;
}

/** Remembers which resource has adopted the record. */
export function recordAdopter(adoptee: Adoptee, owner: string): void {
  writeRecord(subjectOf(adoptee), { owner });
}

/**
 * Returns `true` if a different resource has adopted the record on this machine. If this resource
 * got the record later, perhaps on another machine, it has it now.
 */
export function wasAdoptedFrom(adoptee: Adoptee, owner: string): boolean {
  const adopter = readRecord(subjectOf(adoptee))?.owner;
  return typeof adopter === "string" && adopter !== owner && drawnAt(owner) <= drawnAt(adopter);
}

/**
 * Removes the machine record if this resource is the adopter: another resource keeps the service's
 * record.
 */
export function returnToFormerOwner(adoptee: Adoptee, owner: string): void {
  if (readRecord(subjectOf(adoptee))?.owner === owner) forgetAdopter(adoptee);
}

/** Removes the machine record of a deleted record. */
export function forgetAdopter(adoptee: Adoptee): void {
  removeRecord(subjectOf(adoptee));
}

function subjectOf({ account, noun, id }: Adoptee): Subject {
  const [service = ""] = String(account ?? "").split(" ");
  return { service, noun: `owner of ${noun}`, key: id };
}
