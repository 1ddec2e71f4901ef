import { systemClock, timeLimit } from "../../sdk/contract/clock";
import { ENDPOINT_DEFAULTS } from "../../sdk/endpoints/fields";
import type { ScaleDownOptions } from "../../sdk/endpoints/putBack";
import { AT_ZERO, countsOf, isAtZero, type WorkerLimits } from "../../sdk/endpoints/workerLimits";
import { readOverAutomaticApi } from "../connection/automaticApi";
import { connect, currentPlace, readConfig } from "../connection/connection";
import type { ProviderClient } from "../connection/providerClient";
import { cancelled } from "../engine/cancellation";
import { messageOf } from "../engine/errors";
import { log } from "../engine/log";
import type { Properties } from "../engine/properties";
import { closeNote, type Note, noteWrite, openNote, type Purpose, type Written } from "../machine/note";
import { LIST_MAX_AGE_MS } from "../ownership/location";

/*
 * An endpoint at zero takes no jobs. A deletion or recycle that is killed leaves it there, and the
 * state does not show it. This machine then has a note of the worker counts to restore. Other
 * machines see it in the list of endpoints, and restore the counts that the program sets.
 */

/** Returns the callbacks that note a temporary scale to zero on this machine. */
export function scaleDownNotes(
  written: Written,
  outputs: Properties,
  purpose: Purpose,
): Required<ScaleDownOptions> & { readonly workers: WorkerLimits | undefined } {
  const name = String(outputs.name ?? written.id);
  const open = openNote(written, outputs);
  const isScaledDown = open?.purpose === "deletion" || open?.purpose === "recycle";
  const { workersMin, workersMax } = (isScaledDown && open.before) || {};
  const areKnown = typeof workersMin === "number" && typeof workersMax === "number";
  return {
    workers: areKnown ? { workersMin, workersMax } : undefined,
    onScaleDown: (counts) =>
      noteWrite(written, outputs, { purpose, name, sent: { ...AT_ZERO }, before: { ...counts } }),
    onPutBack: () => closeNote(written),
  };
}

/** How long the comparisons wait for the list of endpoints, in milliseconds. */
const LOOK_TIMEOUT_MS = 10_000;

/** The data that the list of endpoints shows. */
interface Look {
  readonly atZero: Set<string>;
  /** The worker counts of the endpoints that show them. */
  readonly counts: ReadonlyMap<string, WorkerLimits>;
  /** The ids of all endpoints with a name. */
  readonly named: ReadonlyMap<string, readonly string[]>;
}

/** The engine compares one resource after another, so the resources share one read. */
const looks = new WeakMap<ProviderClient, Promise<Look>>();

/** The endpoints that a comparison of this deployment has seen at zero. */
const seenAtZero = new Set<string>();

/**
 * Checks whether a deletion killed elsewhere left an endpoint at zero, although the program sets
 * workers. The list is read once for all endpoints. If the service cannot be read, nothing is
 * known, because previews work without a key and without a connection.
 * @returns `true` if up restores the program's worker counts, which is then logged
 */
export async function isLeftAtZero(id: string, outputs: Properties, inputs: Properties): Promise<boolean> {
  const { workersMin, workersMax } = inputs;
  const name = String(outputs.name ?? id);
  const isSeen = isAtZero(outputs) || (await isShownAtZero(id, name));
  if (inputs.schedule !== undefined && !isSeen) await saySetOtherwise(id, outputs, inputs);
  if (isSeen && (Number(workersMin) > 0 || Number(workersMax) > 0)) {
    seenAtZero.add(id);
    const counts = { ...(workersMin !== undefined && { workersMin }), ...(workersMax !== undefined && { workersMax }) };
    log(name, `endpoint ${id} is scaled to zero instead of ${describe(counts)}: up restores it`);
    matchingCount(name, AT_ZERO, counts, inputs);
    return true;
  }
  warnIfOff(id, isSeen ? { name, ...AT_ZERO } : outputs, inputs);
  return false;
}

/** Returns the write that left an endpoint at zero, as far as the service shows it. */
export function zeroSeen(id: string, { name }: Properties): Note | undefined {
  if (!seenAtZero.delete(id)) return undefined;
  return { purpose: "deletion", name: String(name ?? id), sent: { ...AT_ZERO }, before: {}, at: 0 };
}

async function isShownAtZero(id: string, name: string): Promise<boolean> {
  const look = await currentLook(id, name);
  if (!look) return false;
  const { atZero, named } = look;
  const others = (named.get(name) ?? []).filter((each) => each !== id);
  if (others.length > 0 && !said.has(id)) {
    said.add(id);
    log(
      name,
      `warning: another endpoint has the name of ${id}, and both are billed: ${others.join(", ")}. A create whose response was ` +
        "lost may have made it. If nothing else uses it, delete it",
    );
  }
  return atZero.delete(id);
}

/**
 * Logs that the worker counts at the service differ from those that a schedule has set. They are
 * not restored, because RunPod lowers `workersMax` by itself, and would lower it again.
 */
async function saySetOtherwise(id: string, outputs: Properties, inputs: Properties): Promise<void> {
  const name = String(outputs.name ?? id);
  const now: Partial<WorkerLimits> = (await currentLook(id, name))?.counts.get(id) ?? {};
  const others = (["workersMin", "workersMax"] as const).filter(
    (count) => now[count] !== undefined && inputs[count] === outputs[count] && now[count] !== outputs[count],
  );
  if (others.length === 0) return;
  const found = others.map((count) => `${count} ${now[count]} instead of ${outputs[count]}`).join(" and ");
  log(
    name,
    `the service has ${found}: RunPod lowers workersMax of endpoints without jobs, or a person has changed it. It stays until the ` +
      "schedule changes that count. To restore it now, run pulumi up --refresh",
  );
}

async function currentLook(id: string, name: string): Promise<Look | undefined> {
  const client = currentClient();
  if (!client) return undefined;
  const look = looks.get(client) ?? lookAtList(id, name);
  looks.set(client, look);
  return await look;
}

/** The endpoints for which another one with the same name was logged. */
const said = new Set<string>();

/** Returns the client, or `undefined` if the settings are wrong, because previews accept that. */
function currentClient(): ProviderClient | undefined {
  try {
    return currentPlace() && connect().client;
  } catch {
    return undefined;
  }
}

/**
 * @param id the endpoint that REST v2 must list before the run uses it
 * @param name the endpoint in whose name a failure is logged
 */
async function lookAtList(id: string, name: string): Promise<Look> {
  // With AbortSignal.any, Node.js may collect the timeout as garbage before it fires.
  const limit = timeLimit(systemClock, LOOK_TIMEOUT_MS, () => new Error("no response in time"), cancelled);
  try {
    const options = { maxAgeMs: LIST_MAX_AGE_MS, signal: limit.signal };
    const list = () => connect().client.endpoints.listReadable(options);
    const { records } = await readOverAutomaticApi(list, readConfig, id);
    const fields = ["workersMin", "workersMax"];
    const shown = records.filter(({ unshown = [] }) => !fields.some((field) => unshown.includes(field)));
    const named = new Map<string, string[]>();
    for (const each of records) named.set(each.name, [...(named.get(each.name) ?? []), each.id]);
    const counts = new Map(shown.map((each) => [each.id, countsOf(each)] as const));
    return { atZero: new Set(shown.filter(isAtZero).map(({ id }) => id)), counts, named };
  } catch (error) {
    log(
      name,
      `this run cannot see whether endpoints were scaled to zero, because their list could not be read: ${messageOf(error)}`,
    );
    return { atZero: new Set(), counts: new Map(), named: new Map() };
  } finally {
    limit.release();
  }
}

/**
 * Returns the worker count that a write must add, because it writes only one of them, and
 * `workersMin` cannot exceed `workersMax`. The addition is logged.
 * @param now the endpoint's counts before the write
 */
export function matchingCount(
  name: string,
  now: WorkerLimits,
  settings: Properties,
  inputs: Properties,
): Partial<WorkerLimits> {
  const after: Properties = { ...now, ...settings };
  const [least, most] = [Number(after.workersMin), Number(after.workersMax)];
  if (!(least > most)) return {};
  if (inputs.workersMin !== undefined && inputs.workersMax !== undefined) {
    const other = "workersMin" in settings ? "workersMax" : "workersMin";
    log(
      name,
      `also sets ${other} ${inputs[other]}: it is ${now[other]} at the service, and workersMin cannot exceed workersMax`,
    );
    return { [other]: inputs[other] };
  }
  if (inputs.workersMax !== undefined) return { workersMin: most };
  const workersMax = most === 0 ? Math.max(ENDPOINT_DEFAULTS.workersMax, least) : least;
  log(
    name,
    `also sets workersMax ${workersMax}: it is ${most} at the service, the program does not set it, and workersMin cannot exceed it`,
  );
  return { workersMax };
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

function describe(limits: Properties): string {
  return Object.entries(limits)
    .map(([field, value]) => `${field} ${value}`)
    .join(" and ");
}
