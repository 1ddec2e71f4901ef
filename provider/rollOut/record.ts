import { createHash } from "node:crypto";
import type { AccountIdentity } from "../connection/account";
import { readRecord, recordsOf, removeRecord, type Subject, writeRecord } from "../machine/machineRecord";
import { isAlive, isOfThisProcess, machine, thisProcess } from "../machine/processes";
import { seal, unseal } from "../machine/seal";
import { lastWrite } from "../machine/unfinishedWrite";
import { isObject, type Properties, pick } from "../properties";
import { PHASES, type RollOutRecord } from "./decide";

/** This machine's record of an endpoint's rollout. It is only a hint. */
export interface RecordOfMachine {
  /**
   * `undefined` without a record, or if state has moved on since: then another machine has judged
   * the release, and only that one has passed is still of use. `"sealed"` if it was written with
   * another key.
   */
  readonly read: (state: Properties) => RollOutRecord | "sealed" | undefined;
  readonly write: (record: RollOutRecord) => void;
  readonly remove: () => void;
  /** Removes a record that state has made useless. */
  readonly removeVoid: (state: Properties) => void;
}

export function recordOfMachine(id: string, { service, apiKey }: AccountIdentity): RecordOfMachine {
  const subject: Subject = { service, noun: NOUN, key: id };
  const read = (state: Properties) => {
    const found = readRecord(subject);
    const record = found && opened(apiKey, found);
    const isVoid = found?.after !== lastWrite(state);
    return isVoid && (record === "sealed" || record?.phase !== "passed") ? undefined : record;
  };
  return {
    read,
    write: (record) => {
      const { after, adoption } = record;
      const maker = adoption === undefined ? {} : { service, id, ...thisProcess() };
      writeRecord(subject, { after, ...maker, sealed: seal(apiKey, { ...record }) });
    },
    remove: () => removeRecord(subject),
    removeVoid(state) {
      if (read(state) === undefined) removeRecord(subject);
    },
  };
}

const NOUN = "endpoint rollout";

/** A release of an endpoint that a program was about to adopt, from a run that has ended. */
export interface LeftAdoption {
  readonly id: string;
  readonly name: string;
  readonly record: RollOutRecord;
}

/** Returns the adoptions in this account whose release no run on this machine has judged. */
export function leftAdoptions({ service, apiKey }: AccountIdentity): LeftAdoption[] {
  return recordsOf(NOUN).flatMap((found) => {
    if (found.service !== service || typeof found.id !== "string" || isRunning(found)) return [];
    const record = opened(apiKey, found);
    if (!record || record === "sealed" || record.adoption === undefined) return [];
    const isOpen = record.phase === "judging" || record.phase === "restoring";
    const isLeft = isOpen && Object.keys(record.release).length > 0;
    return isLeft ? [{ id: found.id, name: record.adoption, record }] : [];
  });
}

/** Returns `true` if the process that wrote a record runs, as far as this one can see. */
function isRunning(maker: Properties): boolean {
  const isHere = maker.machine === machine && maker.process !== process.pid;
  return isOfThisProcess(maker) || (isHere && isAlive(Number(maker.process)));
}

function opened(apiKey: string, { sealed }: Properties): RollOutRecord | "sealed" | undefined {
  const properties = unseal(apiKey, sealed);
  return sealed !== undefined && !properties ? "sealed" : parse(properties);
}

function parse(properties: Properties | undefined): RollOutRecord | undefined {
  const { inputs, release, former, reason, after, version, adoption } = properties ?? {};
  const phase = PHASES.find((each) => each === properties?.phase);
  if (!phase || !isObject(release) || !isObject(former)) return undefined;
  return {
    ...{ phase, inputs: String(inputs), release, former, reason: String(reason), after: String(after) },
    ...(typeof version === "number" && { version }),
    ...(typeof adoption === "string" && { adoption }),
  };
}

/** Returns a digest of the program's inputs. */
export function digestOf(inputs: Properties): string {
  const own = pick(inputs, (name) => !name.startsWith("__"));
  return createHash("sha256")
    .update(JSON.stringify(sorted(own)))
    .digest("hex");
}

/** The engine may pass the keys of objects in any order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return names.map((name) => [name, sorted(value[name])]);
}
