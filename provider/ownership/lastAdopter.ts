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

/**
 * Returns the resource's record at the service, in the form in which this machine's records
 * identify it.
 */
export function recordedAs(noun: string, { id, outputs }: { id: string; outputs: Properties }): ServiceRecord {
  return { service: recordedService(outputs) ?? "", noun, id };
}

/**
 * Notes that a resource is about to adopt the record. From now on, the resource may change the
 * record's settings.
 */
export function recordAdopting(adoptee: ServiceRecord, owner: string): void {
  write(adoptee, { ...readRecord(subjectOf(adoptee)), writer: owner });
}

/** Records which resource has adopted the record, and when. */
export function recordAdopter(adoptee: ServiceRecord, owner: string): void {
  write(adoptee, { owner, writer: owner, since: Math.floor(Date.now() / 1000) });
}

/**
 * Returns `true` if a different resource has adopted the record on this machine. Returns `false` if
 * this resource was created later, perhaps on another machine, because it then has the record now.
 */
export function wasAdoptedFrom(adoptee: ServiceRecord, owner: string): boolean {
  const { owner: adopter, since } = readRecord(subjectOf(adoptee)) ?? {};
  return typeof adopter === "string" && adopter !== owner && drawnAt(owner) <= Number(since);
}

/**
 * Returns `true` if the program's `adoptId` assigns the record to a resource that already has it,
 * although a different resource has adopted the record on this machine. The resource then adopts
 * the record again.
 */
export function adoptsAgain(adoptee: ServiceRecord, owner: string, { adoptId }: Properties): boolean {
  return adoptId === adoptee.id && wasAdoptedFrom(adoptee, owner);
}

/**
 * Returns when a different resource that had the record on this machine may have changed its
 * settings, in milliseconds since 1970, or `undefined` if none did so after this resource.
 */
export function changedByOtherAt(adoptee: ServiceRecord, owner: string): number | undefined {
  const { writer, at } = readRecord(subjectOf(adoptee)) ?? {};
  return typeof writer === "string" && writer !== owner ? Number(at) : undefined;
}

/** Notes that the settings of an adopted record come, or are about to come, from this resource. */
export function noteWriter(adoptee: ServiceRecord, owner: string): void {
  const record = readRecord(subjectOf(adoptee));
  if (record && record.writer !== owner) write(adoptee, { ...record, writer: owner });
}

/**
 * Forgets that this resource adopted the record. Another resource keeps the record at the service
 * and must verify its settings.
 */
export function returnToFormerOwner(adoptee: ServiceRecord, owner: string): void {
  const { owner: adopter, since: _, ...record } = readRecord(subjectOf(adoptee)) ?? {};
  if (adopter === owner) writeRecord(subjectOf(adoptee), record);
}

/** Removes the machine record of a record that was deleted at RunPod. */
export function forgetAdopter(adoptee: ServiceRecord): void {
  removeRecord(subjectOf(adoptee));
}

function write(adoptee: ServiceRecord, record: Properties): void {
  writeRecord(subjectOf(adoptee), { ...record, at: Date.now() });
}

function subjectOf(adoptee: ServiceRecord): Subject {
  return subjectAbout(adoptee, "owner");
}
