import { isObject, type Properties } from "../engine/properties";
import { readRecord, recordsAbout, removeRecord, type ServiceRecord, subjectAbout, writeRecord } from "./machineRecord";
import { isSeenRunning, thisProcess } from "./processes";
import { seal, unseal } from "./seal";

/*
 * The engine writes state only after a handler has returned, and may be killed before it does. So
 * this machine notes each write to an existing record before it is sent, regardless of its purpose.
 * There is one note per record. The next run verifies the write, even if the program has changed.
 */

/** A record that is written, and the account's API key. */
export interface Written extends ServiceRecord {
  /** `undefined` in a preview without a key. In that case, the settings cannot be read. */
  readonly apiKey?: string | undefined;
}

/** The purpose of a write. */
export type Purpose = "change" | "adoption" | "deletion" | "recycle";

/** A write whose end is not recorded in state. */
export interface Note {
  readonly purpose: Purpose;
  /** The name of the record, for messages. */
  readonly name: string;
  /** The settings that were sent. The settings that RunPod never shows are left out. */
  readonly sent: Properties;
  /** The values of the same settings right before the write. */
  readonly before: Properties;
  /** When the write was sent, in milliseconds since 1970. */
  readonly at: number;
  /** `true` if the settings cannot be read, because they were encrypted with another key. */
  readonly isSealed?: boolean;
}

/** A write that is about to be sent. */
type NewNote = Omit<Note, "at" | "isSealed">;

/** Notes a write before it is sent. If an earlier write is still open, the note covers both. */
export function noteWrite(written: Written, outputs: Properties, note: NewNote): void {
  const open = openNote(written, outputs);
  const sent = { ...open?.sent, ...note.sent };
  const before = { ...open?.before, ...note.before };
  const { service, noun, id, apiKey = "" } = written;
  const sealed = seal(apiKey, { sent, before, name: note.name });
  const { purpose } = note;
  writeRecord(subjectOf(written), { purpose, at: Date.now(), service, noun, id, ...thisProcess(), sealed }, outputs);
}

/**
 * Returns this machine's write whose outcome is not known. Returns `undefined` if there is none or
 * if state has moved on since. The settings are empty if they were encrypted with another key.
 * @param outputs the outputs in state; absent for a record that is in no state yet
 */
export function openNote(written: Written, outputs?: Properties): Note | undefined {
  const found = readRecord(subjectOf(written), outputs);
  return found && opened(written.apiKey, found);
}

/** Removes the note of a write that had no effect, was undone, or whose record is gone. */
export function closeNote(written: ServiceRecord): void {
  removeRecord(subjectOf(written));
}

/** An adoption that a run on this machine did not finish. */
export interface LeftAdoption {
  readonly record: ServiceRecord;
  readonly note: Note;
}

/** Returns the adoptions in this account that a run on this machine has begun and not finished. */
export function leftAdoptions({ service, apiKey }: Pick<Written, "service" | "apiKey">): LeftAdoption[] {
  return recordsAbout("write").flatMap((found) => {
    const { noun, id } = found;
    if (found.purpose !== "adoption" || found.service !== service || isSeenRunning(found)) return [];
    if (typeof noun !== "string" || typeof id !== "string") return [];
    return [{ record: { service, noun, id }, note: opened(apiKey, found) }];
  });
}

function opened(apiKey: string | undefined, found: Properties): Note {
  const properties = unseal(apiKey ?? "", found.sealed);
  const { sent, before, name } = properties ?? {};
  const purposes = ["change", "adoption", "deletion", "recycle"] as const;
  return {
    purpose: purposes.find((each) => each === found.purpose) ?? "change",
    name: String(name ?? found.id),
    sent: isObject(sent) ? sent : {},
    before: isObject(before) ? before : {},
    at: typeof found.at === "number" ? found.at : 0,
    isSealed: properties === undefined,
  };
}

function subjectOf(written: ServiceRecord) {
  return subjectAbout(written, "write");
}
