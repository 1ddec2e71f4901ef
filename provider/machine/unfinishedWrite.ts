import { isObject, objectOrEmpty, type Properties } from "../properties";
import { readRecord, removeRecord, type ServiceRecord, type Subject, subjectAbout, writeRecord } from "./machineRecord";
import { seal, unseal } from "./seal";

/*
 * One rule for every kind: a write whose end nobody saw is verified by the next run on this
 * machine, whatever the program then says. So this machine notes each write to an existing record
 * before it is sent. The engine writes state only after the handler has returned, and may be killed
 * before it does. So the handler does not remove the note: any later write in state voids it.
 */

/** The record that is written, and the account's API key. */
export interface Written extends ServiceRecord {
  /** `undefined` in a preview without a key. In that case, the settings cannot be read. */
  readonly apiKey?: string | undefined;
}

/** A write to an existing record that is not recorded in state. */
export interface UnfinishedWrite {
  /**
   * The settings that were sent and that differ from state, except for those that RunPod never
   * shows.
   */
  readonly sent: Properties;
  /** The values of the same settings before the write. */
  readonly former: Properties;
  /** When the write was sent, in milliseconds since 1970. */
  readonly at: number;
}

/** Notes a write before it is sent. If an earlier write is still open, the note covers both. */
export function noteUnfinished(written: Written, outputs: Properties, sent: Properties, former: Properties): void {
  const open = openWrite(written, outputs);
  const write = { sent: { ...open?.sent, ...sent }, former: { ...former, ...open?.former } };
  const { apiKey = "" } = written;
  const added = Object.keys(objectOrEmpty(sent.env)).filter((name) => !(name in objectOrEmpty(former.env)));
  const variables = [...new Set([...leftVariables(written, outputs), ...added])];
  writeRecord(subjectOf(written), { at: Date.now(), variables, sealed: seal(apiKey, write) }, outputs);
}

/**
 * Notes the variables of a record that an interrupted create has made. None of them is in state.
 */
export function noteCreated(created: ServiceRecord, variables: readonly string[]): void {
  writeRecord(subjectOf(created), { variables }, {});
}

/**
 * Returns this machine's write whose outcome is unknown. Returns `undefined` if there is none or if
 * state has changed since. The settings of the write are empty if they were encrypted with another
 * key.
 */
export function openWrite(written: Written, outputs: Properties): UnfinishedWrite | undefined {
  const note = readRecord(subjectOf(written), outputs);
  if (!note) return undefined;
  const { sent, former } = unseal(written.apiKey ?? "", note.sealed) ?? {};
  return {
    sent: isObject(sent) ? sent : {},
    former: isObject(former) ? former : {},
    at: typeof note.at === "number" ? note.at : 0,
  };
}

/**
 * Returns the names of the variables that an open write may have added and that are not in state.
 * Nothing else distinguishes them from variables that others have set. Names are not secret.
 */
export function leftVariables(written: ServiceRecord, outputs: Properties): string[] {
  const names = readRecord(subjectOf(written), outputs)?.variables;
  return Array.isArray(names) ? names.map(String).filter((name) => !(name in objectOrEmpty(outputs.env))) : [];
}

/**
 * Removes the note of a write that was reverted, because state then describes the record correctly
 * again.
 */
export function forgetWrite(written: ServiceRecord): void {
  removeRecord(subjectOf(written));
}

function subjectOf(written: ServiceRecord): Subject {
  return subjectAbout(written, "write");
}
