import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isObject, type Properties } from "../engine/properties";
import { candidateFolders, ifThere, isPrivate, makePrivateFolder } from "./folders";
import { lastWrite } from "./stamp";

/*
 * The facts that this machine must remember if a run is killed between a request and the moment the
 * engine writes state, in one small file for each subject. A file contains secrets only in
 * encrypted form.
 *
 * A machine record is only a hint. A record is void when state or the service has moved on. State
 * has moved on if it names another write than it did when the record was made, regardless of which
 * machine made that write (`isVoid`). The reader of a record compares it with the service before it
 * acts. Creates and adoptions begin without state, so their records are removed when their end is
 * seen.
 */

/**
 * The facts that this machine remembers about a record of the service. Neither state nor the
 * service shows them. The comment on each fact says what would go wrong without it.
 */
type Thing =
  // The next run would create the record a second time, because the first one is in no state.
  | "create"
  // If the program goes back to its previous inputs, `up` would say "unchanged", and the changes of
  // the killed run would stay: settings, variables, a release, or an endpoint that is scaled to
  // zero.
  | "write"
  // With `--target`, the previous resource would delete a record that another resource has adopted.
  | "adopter"
  // A program that asks for it would fail while the service does not answer. Void if the service
  // answers.
  | "spend";

/** Identifies what a machine record is about. */
export interface Subject {
  /** The service: its name or the URL of its management API, as in an account's record. */
  readonly service: string;
  /** The kind of record, such as `endpoint`. */
  readonly noun: string;
  readonly thing: Thing;
  /** The id at the service, or the name of a record that is being created. */
  readonly key: string;
}

/** Identifies a record at the service. */
export interface ServiceRecord {
  /** The service, as in `Subject`. */
  readonly service: string;
  /** The kind of record, such as `template`. */
  readonly noun: string;
  readonly id: string;
}

/** Returns the subject for one fact that this machine remembers about a record of the service. */
export function subjectAbout({ service, noun, id }: ServiceRecord, thing: Thing): Subject {
  return { service, noun, thing, key: id };
}

const FOLDERS = candidateFolders("records");

/**
 * Returns the record of the subject, or `undefined` if this machine has none or the record is void.
 * A void record is kept, because another stack may have the state in which it was made.
 * @param state the outputs in state, for a record that was written with them
 */
export function readRecord(subject: Subject, state?: Properties): Properties | undefined {
  for (const candidate of FOLDERS) {
    const folder = path.join(...candidate);
    if (!isPrivate(folder)) continue;
    const text = ifThere(() => readFileSync(path.join(folder, fileOf(subject)), "utf8"));
    const record = text === undefined ? undefined : parse(text);
    if (record) return state && isVoid(record, state) ? undefined : record;
  }
  return undefined;
}

/** Returns `true` if state has moved on since a record was made. */
function isVoid({ after }: { readonly after?: unknown }, state: Properties): boolean {
  return after !== lastWrite(state);
}

/** Returns all records on this machine that are about the same kind of fact. */
export function recordsAbout(thing: Thing): Properties[] {
  return FOLDERS.flatMap((candidate) => {
    const folder = path.join(...candidate);
    const names: readonly string[] = isPrivate(folder) ? (ifThere(() => readdirSync(folder)) ?? []) : [];
    const files = names.filter((name) => name.startsWith(`${thing}-`) && name.endsWith(".json"));
    const texts = files.map((file) => ifThere(() => readFileSync(path.join(folder, file), "utf8")));
    return texts.map((text) => parse(text ?? "")).filter(isObject);
  });
}

/**
 * Writes the subject's record, which replaces the previous one. The file is either complete or
 * absent, even if the process is killed.
 * @param state the outputs in state. A later write recorded in state makes the record void
 * @returns `false` if no folder of this machine can be written
 */
export function writeRecord(subject: Subject, record: Properties, state?: Properties): boolean {
  const text = JSON.stringify(state ? { ...record, after: lastWrite(state) } : record);
  for (const candidate of FOLDERS) {
    try {
      const file = path.join(makePrivateFolder(candidate), fileOf(subject));
      const unfinished = `${file}.${process.pid}`;
      writeFileSync(unfinished, text, { mode: 0o600 });
      renameSync(unfinished, file);
      return true;
    } catch {}
  }
  return false;
}

/** Removes the subject's record. Does nothing if there is none. */
export function removeRecord(subject: Subject): void {
  for (const candidate of FOLDERS) {
    const folder = path.join(...candidate);
    if (!isPrivate(folder)) continue;
    ifThere(() => rmSync(path.join(folder, fileOf(subject)), { force: true }));
  }
}

function fileOf(subject: Subject): string {
  const { service, noun, thing, key } = subject;
  const digest = createHash("sha256")
    .update(JSON.stringify([service, noun, thing, key]))
    .digest("hex");
  return `${thing}-${digest.slice(0, 24)}.json`;
}

function parse(text: string): Properties | undefined {
  try {
    const record: unknown = JSON.parse(text);
    return isObject(record) ? record : undefined;
  } catch {
    // The file belongs to someone else, or the disk is full.
    return undefined;
  }
}
