import { recordedService } from "../connection/account";
import {
  readRecord,
  removeRecord,
  type ServiceRecord,
  type Subject,
  subjectAbout,
  writeRecord,
} from "../machine/machineRecord";
import type { Properties } from "../properties";
import { drawnAt } from "./owners";

/*
 * Under `--target`, the engine compares only some resources, so a deployment's claims do not show
 * which resource adopted a record in an earlier one. The machine record does.
 */

/** Returns the service's record that a resource has, as this machine's records name it. */
export function recordedAs(noun: string, { id, outputs }: { id: string; outputs: Properties }): ServiceRecord {
  return { service: recordedService(outputs) ?? "", noun, id };
}

/** Notes that a resource begins to adopt the record: from now on it may change the settings. */
export function recordAdopting(adoptee: ServiceRecord, owner: string): void {
  write(adoptee, { ...readRecord(subjectOf(adoptee)), writer: owner });
}

/** Remembers which resource has adopted the record, and when. */
export function recordAdopter(adoptee: ServiceRecord, owner: string): void {
  write(adoptee, { owner, writer: owner, since: Math.floor(Date.now() / 1000) });
}

/**
 * Returns `true` if a different resource has adopted the record on this machine. If this resource
 * got the record later, perhaps on another machine, it has it now.
 */
export function wasAdoptedFrom(adoptee: ServiceRecord, owner: string): boolean {
  const { owner: adopter, since } = readRecord(subjectOf(adoptee)) ?? {};
  return typeof adopter === "string" && adopter !== owner && drawnAt(owner) <= Number(since);
}

/**
 * Returns `true` if the program says with `adoptId` that a resource has its record although a
 * different one has adopted it on this machine: then it adopts it again.
 */
export function adoptsAgain(adoptee: ServiceRecord, owner: string, { adoptId }: Properties): boolean {
  return adoptId === adoptee.id && wasAdoptedFrom(adoptee, owner);
}

/**
 * Returns since when a different resource, which has had the record on this machine, may have
 * changed its settings, in milliseconds since 1970; `undefined` if none did after this resource.
 */
export function changedByOtherAt(adoptee: ServiceRecord, owner: string): number | undefined {
  const { writer, at } = readRecord(subjectOf(adoptee)) ?? {};
  return typeof writer === "string" && writer !== owner ? Number(at) : undefined;
}

/**
 * Notes that the settings of an adopted record are about to be, or now are, those of a resource.
 */
export function noteWriter(adoptee: ServiceRecord, owner: string): void {
  const record = readRecord(subjectOf(adoptee));
  if (record && record.writer !== owner) write(adoptee, { ...record, writer: owner });
}

/**
 * Forgets that this resource is the adopter: another resource keeps the service's record, with
 * settings that it must verify.
 */
export function returnToFormerOwner(adoptee: ServiceRecord, owner: string): void {
  const { owner: adopter, since: _, ...record } = readRecord(subjectOf(adoptee)) ?? {};
  if (adopter === owner) writeRecord(subjectOf(adoptee), record);
}

/** Removes the machine record of a deleted record. */
export function forgetAdopter(adoptee: ServiceRecord): void {
  removeRecord(subjectOf(adoptee));
}

function write(adoptee: ServiceRecord, record: Properties): void {
  writeRecord(subjectOf(adoptee), { ...record, at: Date.now() });
}

function subjectOf(adoptee: ServiceRecord): Subject {
  return subjectAbout(adoptee, "owner");
}
