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

/** Notes that a resource begins to adopt the record: from now on it may change the settings. */
export function recordAdopting(adoptee: Adoptee, owner: string): void {
  writeRecord(subjectOf(adoptee), { ...readRecord(subjectOf(adoptee)), writer: owner, at: Date.now() });
}

/** Remembers which resource has adopted the record. */
export function recordAdopter(adoptee: Adoptee, owner: string): void {
  writeRecord(subjectOf(adoptee), { owner, writer: owner, at: Date.now() });
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
 * Returns since when a different resource, which has had the record on this machine, may have
 * changed its settings, in milliseconds since 1970; `undefined` if none did after this resource.
 */
export function changedByOtherAt(adoptee: Adoptee, owner: string): number | undefined {
  const { writer, at } = readRecord(subjectOf(adoptee)) ?? {};
  return typeof writer === "string" && writer !== owner ? Number(at) : undefined;
}

/**
 * Notes that the settings of an adopted record are about to be, or now are, those of a resource.
 */
export function noteWriter(adoptee: Adoptee, owner: string): void {
  const record = readRecord(subjectOf(adoptee));
  if (record && record.writer !== owner) writeRecord(subjectOf(adoptee), { ...record, writer: owner, at: Date.now() });
}

/**
 * Forgets that this resource is the adopter: another resource keeps the service's record, with
 * settings that it must verify.
 */
export function returnToFormerOwner(adoptee: Adoptee, owner: string): void {
  const { owner: adopter, ...record } = readRecord(subjectOf(adoptee)) ?? {};
  if (adopter === owner) writeRecord(subjectOf(adoptee), record);
}

/** Removes the machine record of a deleted record. */
export function forgetAdopter(adoptee: Adoptee): void {
  removeRecord(subjectOf(adoptee));
}

function subjectOf({ account, noun, id }: Adoptee): Subject {
  const [service = ""] = String(account ?? "").split(" ");
  return { service, noun: `owner of ${noun}`, key: id };
}
