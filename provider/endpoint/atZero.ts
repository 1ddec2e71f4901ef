import { systemClock, timeLimit } from "../../sdk/contract/clock";
import { ENDPOINT_DEFAULTS } from "../../sdk/endpoints/fields";
import type { ScaleDownOptions } from "../../sdk/endpoints/putBack";
import type { Endpoint } from "../../sdk/endpoints/record";
import { AT_ZERO, hasSameLimits, isAtZero, type WorkerLimits } from "../../sdk/endpoints/workerLimits";
import { cancelled } from "../cancellation";
import { recordedService } from "../connection/account";
import { connect, currentPlace } from "../connection/connection";
import type { ProviderClient } from "../connection/providerClient";
import { messageOf } from "../engineErrors";
import { log } from "../log";
import { readRecord, removeRecord, subjectAbout, writeRecord } from "../machine/machineRecord";
import { LIST_MAX_AGE_MS } from "../ownership/location";
import { ownerOf } from "../ownership/owners";
import { type Properties, pick } from "../properties";

/*
 * An endpoint at zero takes no jobs. A killed deletion or recycle leaves it there without state
 * knowing. This machine then has a record of the worker counts to put back. Other machines see it
 * in the list of endpoints, and put back the counts that the program sets.
 */

/**
 * The worker counts from before a deletion or recycle scaled the endpoint to zero, as recorded on
 * this machine.
 */
interface ScaleDownRecord extends Required<ScaleDownOptions> {
  /** Returns `undefined` if no deletion or recycle on this machine was killed or failed. */
  readonly workers: () => WorkerLimits | undefined;
  readonly forget: () => void;
}

/** Returns the scale-down record of an endpoint in state. */
export function scaleDownRecord(id: string, outputs: Properties): ScaleDownRecord {
  const subject = subjectAbout({ service: recordedService(outputs) ?? "", noun: "endpoint", id }, "zero");
  // An adoption has no state yet, and the service decides alone.
  const state = ownerOf(outputs) === "" ? undefined : outputs;
  const forget = () => removeRecord(subject);
  return {
    workers: () => limitsIn(readRecord(subject, state)),
    onScaleDown: ({ workersMin, workersMax }) => {
      writeRecord(subject, { workersMin, workersMax }, outputs);
    },
    onPutBack: forget,
    forget,
  };
}

function limitsIn(record: Properties | undefined): WorkerLimits | undefined {
  const { workersMin, workersMax } = record ?? {};
  return typeof workersMin === "number" && typeof workersMax === "number" ? { workersMin, workersMax } : undefined;
}

/** How long the comparisons wait for the list of endpoints, in milliseconds. */
const LOOK_TIMEOUT_MS = 10_000;

/**
 * The ids of the endpoints that the service shows at zero and that no comparison has asked for yet.
 * The engine compares one resource after another, so they share one look.
 */
const shown = new WeakMap<ProviderClient, Promise<Set<string>>>();

/** The endpoints that a comparison of this deployment has seen at zero. */
const seenAtZero = new Set<string>();

/**
 * Looks whether the service shows an endpoint at zero that is not at zero in state, which happens
 * after a deletion that was killed on another machine. The list is read once for all endpoints. If
 * the service cannot be read, nothing is known, because previews work without a key and without a
 * connection.
 */
export async function lookForZero(id: string, outputs: Properties): Promise<void> {
  if (isAtZero(outputs) || scaleDownRecord(id, outputs).workers() || !currentPlace()) return;
  const client = currentClient();
  if (!client) return;
  const look = shown.get(client) ?? listAtZero(client, String(outputs.name ?? id));
  shown.set(client, look);
  if ((await look).delete(id)) seenAtZero.add(id);
}

/** Returns the client, or `undefined` if the settings are wrong, because previews accept that. */
function currentClient(): ProviderClient | undefined {
  try {
    return connect().client;
  } catch {
    return undefined;
  }
}

/** @param name the endpoint in whose name a failure is logged */
async function listAtZero({ endpoints }: ProviderClient, name: string): Promise<Set<string>> {
  // With AbortSignal.any, Node.js may collect the timeout as garbage before it fires.
  const limit = timeLimit(systemClock, LOOK_TIMEOUT_MS, () => new Error("no response in time"), cancelled);
  try {
    const { records } = await endpoints.listReadable({ maxAgeMs: LIST_MAX_AGE_MS, signal: limit.signal });
    return new Set(records.filter(isAtZero).map(({ id }) => id));
  } catch (error) {
    log(
      name,
      `this run cannot see whether endpoints were scaled to zero, because their list could not be read: ${messageOf(error)}`,
    );
    return new Set();
  } finally {
    limit.release();
  }
}

/** Returns the outputs of state, at zero if `lookForZero` has seen the endpoint there. */
export function asSeen(id: string, outputs: Properties): Properties {
  return seenAtZero.has(id) ? { ...outputs, ...AT_ZERO } : outputs;
}

/** Forgets what `lookForZero` has seen, after an update. */
export function forgetSeen(id: string): void {
  seenAtZero.delete(id);
}

/**
 * Logs what the next `up` restores, or that the endpoint is scaled to zero. Sends no request.
 * @returns `true` if `up` has worker counts to restore or repair
 */
export function announceZero(id: string, outputs: Properties, inputs: Properties): boolean {
  const name = String(outputs.name ?? id);
  const recorded = scaleDownRecord(id, outputs).workers();
  if (recorded) {
    const wanted = limitsToPutBack(recorded, inputs);
    log(
      name,
      `an unfinished deletion or recycle may have left endpoint ${id} scaled to zero: if so, up restores ${describe(wanted)}`,
    );
    return true;
  }
  const missing = missingMaximum(outputs.workersMax, inputs);
  if (missing !== undefined) log(name, `up also sets ${describe(missing)}: ${BLOCKED}`);
  else warnIfOff(id, outputs, inputs);
  if (!isDeclaredOff(outputs, inputs)) return false;
  const declared = pick(inputs, isCount);
  log(name, `endpoint ${id} is scaled to zero, but the program sets ${describe(declared)}: up restores it`);
  return true;
}

/**
 * Returns `true` if an endpoint is scaled to zero in state but the program wants it in service. The
 * engine may miss that, because a refresh on another machine keeps the previous inputs.
 */
function isDeclaredOff(outputs: Properties, inputs: Properties): boolean {
  return isAtZero(outputs) && (Number(inputs.workersMin) > 0 || Number(inputs.workersMax) > 0);
}

const BLOCKED = "it is 0 at the service, the program does not set it, and workersMin cannot exceed it";

/**
 * Returns the worker counts that a save must contain in addition to the program's fields. `now` is
 * the endpoint as just read.
 */
export function zeroRepair(id: string, outputs: Properties, inputs: Properties, now: Endpoint): Partial<WorkerLimits> {
  const recorded = scaleDownRecord(id, outputs).workers();
  // The list may still show the previous counts for a while. Saving them again changes nothing.
  if (recorded && (isAtZero(now) || hasSameLimits(now, recorded))) {
    const wanted = limitsToPutBack(recorded, inputs);
    const verb = isAtZero(now) ? "restores" : "saves again";
    log(now.name, `${verb} ${describe(wanted)} after an unfinished deletion or recycle`);
    return wanted;
  }
  const missing = missingMaximum(now.workersMax, inputs);
  if (missing !== undefined) log(now.name, `also sets ${describe(missing)}: ${BLOCKED}`);
  return missing ?? {};
}

/** Returns `true` if `zeroRepair` needs to see the endpoint. */
export function mayNeedRepair(id: string, outputs: Properties, inputs: Properties, isSaved: boolean): boolean {
  const dependsOnMaximum = isSaved && Number(inputs.workersMin) > 0 && inputs.workersMax === undefined;
  return dependsOnMaximum || scaleDownRecord(id, outputs).workers() !== undefined;
}

/** Logs what a refresh found, and removes an outdated record. */
export function noteRead(id: string, outputs: Properties, inputs: Properties, now: Endpoint): void {
  if (outputs.__mustExist) return;
  const record = scaleDownRecord(id, outputs);
  const recorded = record.workers();
  if (!recorded) warnIfOff(id, { ...now }, inputs);
  else if (!isAtZero(now) && !hasSameLimits(now, recorded)) record.forget();
}

/** Returns the worker counts that `up` restores, if the endpoint is still scaled to zero. */
export function limitsLeftBehind(id: string, outputs: Properties, now: Endpoint): Partial<WorkerLimits> {
  return (isAtZero(now) && scaleDownRecord(id, outputs).workers()) || {};
}

/** The endpoints that this process has warned about. A process serves one deployment. */
const warned = new Set<string>();

/**
 * Warns if `workersMax` is 0 although the program does not set it, because no run would repair
 * that.
 */
export function warnIfOff(id: string, { name, workersMax }: Properties, inputs: Properties): void {
  if (workersMax !== 0 || inputs.workersMax !== undefined || warned.has(id)) return;
  warned.add(id);
  const usual = Math.max(ENDPOINT_DEFAULTS.workersMax, Number(inputs.workersMin ?? 0));
  log(
    String(name ?? id),
    [
      `warning: endpoint ${id} is off: its workersMax is 0, and the program does not set it. Possible causes: an interrupted ` +
        "deletion; the service, which lowers workersMax to 2 after 3 days without jobs and to 0 after 7; a change by a person.",
      `To put it back in service, add workersMax: ${usual} to the program and run pulumi up. To keep it off, add workersMax: 0`,
    ].join("\n"),
  );
}

/** Returns the recorded counts that the program does not override. */
function limitsToPutBack(recorded: WorkerLimits, inputs: Properties): WorkerLimits {
  const declared = pick(inputs, isCount);
  const { workersMin, workersMax } = { ...recorded, ...(limitsIn({ ...recorded, ...declared }) ?? {}) };
  if (workersMin <= workersMax) return { workersMin, workersMax };
  return declared.workersMax === undefined
    ? { workersMin, workersMax: workersMin }
    : { workersMin: workersMax, workersMax };
}

/** Returns the `workersMax` that the program's `workersMin` requires. */
function missingMaximum(workersMax: unknown, inputs: Properties): { workersMax: number } | undefined {
  const workersMin = Number(inputs.workersMin);
  if (workersMax !== 0 || inputs.workersMax !== undefined || !(workersMin > 0)) return undefined;
  return { workersMax: Math.max(ENDPOINT_DEFAULTS.workersMax, workersMin) };
}

function isCount(field: string): boolean {
  return field === "workersMin" || field === "workersMax";
}

function describe(limits: Properties | Partial<WorkerLimits>): string {
  return Object.entries(limits)
    .map(([field, value]) => `${field} ${value}`)
    .join(" and ");
}
