import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isObject, type Properties } from "../properties";
import { candidateFolders, ifThere, isPrivate, makePrivateFolder } from "./folders";

/*
 * What this machine must remember if a run is killed between a request and the moment the engine
 * writes state: one small file for each subject. A record holds no secret, except encrypted. It is
 * only a hint: other machines do not have it, and code that reads it checks it against the service
 * first.
 */

/** What a machine record is about. */
export interface Subject {
  /** The service: its name or the URL of its management interface, as in an account's record. */
  readonly service: string;
  /** The kind of record, such as `endpoint`. */
  readonly noun: string;
  /** The id at the service, or another key that is unique among the subjects of one kind. */
  readonly key: string;
}

/** A record of the service. */
export interface ServiceRecord {
  /** As in `Subject`. */
  readonly service: string;
  /** Its kind, such as `template`. */
  readonly noun: string;
  readonly id: string;
}

/** Returns the subject of one thing that this machine remembers about a record of the service. */
export function subjectAbout({ service, noun, id }: ServiceRecord, thing: string): Subject {
  return { service, noun: `${noun} ${thing}`, key: id };
}

const FOLDERS = candidateFolders("records");

/** Returns the record of the subject; `undefined` if this machine has none. */
export function readRecord(subject: Subject): Properties | undefined {
  for (const candidate of FOLDERS) {
    const folder = path.join(...candidate);
    if (!isPrivate(folder)) continue;
    const text = ifThere(() => readFileSync(path.join(folder, fileOf(subject)), "utf8"));
    const record = text === undefined ? undefined : parse(text);
    if (record) return record;
  }
  return undefined;
}

/** Returns all records of this machine about one kind of subject. */
export function recordsOf(noun: Subject["noun"]): Properties[] {
  const start = `${fileStart(noun)}-`;
  return FOLDERS.flatMap((candidate) => {
    const folder = path.join(...candidate);
    const names: readonly string[] = isPrivate(folder) ? (ifThere(() => readdirSync(folder)) ?? []) : [];
    const files = names.filter((name) => name.startsWith(start) && name.endsWith(".json"));
    const texts = files.map((file) => ifThere(() => readFileSync(path.join(folder, file), "utf8")));
    return texts.map((text) => parse(text ?? "")).filter(isObject);
  });
}

/**
 * Writes the subject's record in place of the former one. The file is either complete or absent,
 * even if the process is killed.
 * @returns `false` if no folder of this machine can be written
 */
export function writeRecord(subject: Subject, record: Properties): boolean {
  for (const candidate of FOLDERS) {
    try {
      const file = path.join(makePrivateFolder(candidate), fileOf(subject));
      const unfinished = `${file}.${process.pid}`;
      writeFileSync(unfinished, JSON.stringify(record), { mode: 0o600 });
      renameSync(unfinished, file);
      return true;
    } catch {}
  }
  return false;
}

/** Removes the record of the subject. Does nothing if there is none. */
export function removeRecord(subject: Subject): void {
  for (const candidate of FOLDERS) {
    const folder = path.join(...candidate);
    if (!isPrivate(folder)) continue;
    ifThere(() => rmSync(path.join(folder, fileOf(subject)), { force: true }));
  }
}

function fileOf({ service, noun, key }: Subject): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([service, noun, key]))
    .digest("hex");
  return `${fileStart(noun)}-${digest.slice(0, 24)}.json`;
}

function fileStart(noun: string): string {
  return noun.replace(/\W/g, "-");
}

function parse(text: string): Properties | undefined {
  try {
    const record: unknown = JSON.parse(text);
    return isObject(record) ? record : undefined;
  } catch {
    // Somebody else's file, or a full disk.
    return undefined;
  }
}
