import { createHash } from "node:crypto";
import type { AccountIdentity } from "../connection/account";
import { isVoid, readRecord, recordsAbout, removeRecord, type Subject, writeRecord } from "../machine/machineRecord";
import { isSeenRunning, thisProcess } from "../machine/processes";
import { seal, unseal } from "../machine/seal";
import { isObject, type Properties, pick } from "../properties";
import { PHASES, type RollOutRecord } from "./decide";

/** An endpoint of an account. */
export interface RolloutPlace {
  readonly id: string;
  readonly connection: { readonly account: AccountIdentity };
}

/**
 * Returns this machine's record of an endpoint's rollout, or `undefined` if there is none. If state
 * has moved on since, the record is returned only if its release has passed. Returns `"sealed"` if
 * the record was written with another key.
 */
export function readRollOut(place: RolloutPlace, state: Properties): RollOutRecord | "sealed" | undefined {
  const found = readRecord(subjectOf(place));
  const record = found && opened(place.connection.account.apiKey, found);
  if (!found || !isVoid(found, state)) return record;
  return record !== "sealed" && record?.phase === "passed" ? record : undefined;
}

export function writeRollOut(place: RolloutPlace, record: RollOutRecord): void {
  const { service, apiKey } = place.connection.account;
  const { after, adoption } = record;
  const maker = adoption === undefined ? {} : { service, id: place.id, ...thisProcess() };
  writeRecord(subjectOf(place), { after, ...maker, sealed: seal(apiKey, { ...record }) });
}

export function forgetRollOut(place: RolloutPlace): void {
  removeRecord(subjectOf(place));
}

function subjectOf({ id, connection }: RolloutPlace): Subject {
  return { service: connection.account.service, ...ABOUT, key: id };
}

const ABOUT = { noun: "endpoint", thing: "rollout" } as const;

/**
 * The release of an endpoint that a program was about to adopt, left behind by a run that has
 * ended.
 */
export interface LeftAdoption {
  readonly id: string;
  readonly name: string;
  readonly record: RollOutRecord;
}

/** Returns the adoptions in this account whose release no run on this machine has judged. */
export function leftAdoptions({ service, apiKey }: AccountIdentity): LeftAdoption[] {
  return recordsAbout(ABOUT).flatMap((found) => {
    if (found.service !== service || typeof found.id !== "string" || isSeenRunning(found)) return [];
    const record = opened(apiKey, found);
    if (!record || record === "sealed" || record.adoption === undefined) return [];
    const isOpen = record.phase === "judging" || record.phase === "restoring";
    const isLeft = isOpen && Object.keys(record.release).length > 0;
    return isLeft ? [{ id: found.id, name: record.adoption, record }] : [];
  });
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
    phase,
    inputs: String(inputs),
    release,
    former,
    reason: String(reason),
    after: String(after),
    ...(typeof version === "number" && { version }),
    ...(typeof adoption === "string" && { adoption }),
  };
}

/** Returns a digest of the program's inputs. */
export function inputsDigest(inputs: Properties): string {
  const own = pick(inputs, (name) => !name.startsWith("__"));
  return createHash("sha256")
    .update(JSON.stringify(sorted(own)))
    .digest("hex");
}

/** The engine may pass the keys of an object in any order, so they are sorted here. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return names.map((name) => [name, sorted(value[name])]);
}
