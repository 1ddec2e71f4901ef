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

/** Returns the identification of the resource's record, as used by the records on this machine. */
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
 * this resource was created after that adoption, perhaps on another machine, because this resource
 * is then the one that has the record.
 */
export function wasAdoptedFrom(adoptee: ServiceRecord, owner: string): boolean {
  const { owner: adopter, since } = readRecord(subjectOf(adoptee)) ?? {};
  return typeof adopter === "string" && adopter !== owner && drawnAt(owner) <= Number(since);
}

/**
 * Returns `true` if the resource has to adopt the record again. This is the case if the program's
 * `adoptId` names the record that the resource already has, but a different resource has since
 * adopted the record on this machine.
 */
export function adoptsAgain(adoptee: ServiceRecord, owner: string, { adoptId }: Properties): boolean {
  return adoptId === adoptee.id && wasAdoptedFrom(adoptee, owner);
}

/**
 * Returns when a different resource that had the record on this machine may have changed the
 * record's settings, in milliseconds since 1970. Returns `undefined` if no other resource did so
 * after this one.
 */
export function changedByOtherAt(adoptee: ServiceRecord, owner: string): number | undefined {
  const { writer, at } = readRecord(subjectOf(adoptee)) ?? {};
  return typeof writer === "string" && writer !== owner ? Number(at) : undefined;
}

/** Notes that this resource has set, or is about to set, the settings of an adopted record. */
export function noteWriter(adoptee: ServiceRecord, owner: string): void {
  const record = readRecord(subjectOf(adoptee));
  if (record && record.writer !== owner) write(adoptee, { ...record, writer: owner });
}

/**
 * Forgets that this resource adopted the record. The previous resource keeps the record and must
 * verify its settings.
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
