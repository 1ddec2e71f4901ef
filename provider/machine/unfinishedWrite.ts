import { randomBytes } from "node:crypto";
import { isObject, type Properties } from "../properties";
import { readRecord, removeRecord, type ServiceRecord, type Subject, subjectAbout, writeRecord } from "./machineRecord";
import { seal, unseal } from "./seal";

/*
 * One rule for every kind: a write whose end nobody saw is verified by the next run on this
 * machine, whatever the program then says. So this machine notes each write to an existing record
 * before it is sent. The engine writes state only after the handler has returned, and may be killed
 * before it does. So the handler does not remove the note: the outputs name the last write, and a
 * note holds only while state names the write before it. Any later write in state voids it, also
 * one of another machine.
 */

/** The output that names the last write that state has. */
const WRITE = "__write";

const TOKEN_BYTES = 4;

/** The service's record that is written, and the account's key. */
export interface Written extends ServiceRecord {
  /** `undefined` in a preview without a key: then the settings cannot be read. */
  readonly apiKey?: string | undefined;
}

/** A write to an existing record that state does not have. */
export interface UnfinishedWrite {
  /** The settings that were sent and differ from state, without those that are never shown. */
  readonly sent: Properties;
  /** The same settings before it. */
  readonly former: Properties;
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number;
}

/** Returns the name of a new write. Random, because two machines may start from one state. */
export function newWrite(): string {
  return randomBytes(TOKEN_BYTES).toString("hex");
}

/** Returns the last write that state has; an empty string if it has none. */
export function lastWrite({ [WRITE]: write }: Properties): string {
  return typeof write === "string" ? write : "";
}

/** Returns the output that names a write; none for an empty string. */
export function writeOutput(write: string): Properties {
  return write === "" ? {} : { [WRITE]: write };
}

/** Notes a write before it is sent. An earlier one that is still open stays part of it. */
export function noteWrite(written: Written, outputs: Properties, sent: Properties, former: Properties): void {
  const open = openWrite(written, outputs);
  const write = { sent: { ...open?.sent, ...sent }, former: { ...former, ...open?.former } };
  const { apiKey = "" } = written;
  writeRecord(subjectOf(written), { after: lastWrite(outputs), at: Date.now(), sealed: seal(apiKey, write) });
}

/**
 * Returns the write of this machine whose end nobody saw; `undefined` if there is none, or state
 * has moved on. Its settings are empty if another key has sealed them.
 */
export function openWrite(written: Written, outputs: Properties): UnfinishedWrite | undefined {
  const subject = subjectOf(written);
  const note = readRecord(subject);
  if (!note) return undefined;
  if (note.after !== lastWrite(outputs)) {
    removeRecord(subject);
    return undefined;
  }
  const { sent, former } = unseal(written.apiKey ?? "", note.sealed) ?? {};
  return {
    sent: isObject(sent) ? sent : {},
    former: isObject(former) ? former : {},
    at: typeof note.at === "number" ? note.at : 0,
  };
}

/** Removes the note of a write that was taken back, so that state is right as it is. */
export function forgetWrite(written: ServiceRecord): void {
  removeRecord(subjectOf(written));
}

function subjectOf(written: ServiceRecord): Subject {
  return subjectAbout(written, "write");
}
