import type { Client } from "../../sdk/client";
import { FIELDS } from "../../sdk/endpoints/fields";
import { RollOutError } from "../../sdk/errors";
import type { Connection } from "../connection/connection";
import { currentPlace } from "../connection/connection";
import { initFailure } from "../engineErrors";
import { managedFields } from "../fields/managed";
import { secretFields } from "../hideSecretInputs";
import { log } from "../log";
import { isObject, objectOrEmpty, type Properties, pick, secretValue } from "../properties";
import type { JudgeChange, Situation } from "../records/recordKind";
import { decide, hasFailed, isOpen, type RollOutRecord, type Sight } from "./decide";
import { judge } from "./judge";
import { digestOf, type RecordOfMachine, recordOfMachine } from "./record";
import { type Restored, restore, saveFormer } from "./restore";
import { type RollOut, rollOutOf } from "./rollOutInputs";
import { seal, unseal } from "./seal";
import { differing, merged, namesOf, releaseOf, sameSettings, serves, wantedSettings } from "./settings";
import { shownRefusals } from "./shownRefusals";

/** The output with the settings before a release that serves and that no run has judged. */
const UNJUDGED = "__unjudged";

/** One update of an endpoint with a `rollOut`. */
interface Release extends Situation {
  readonly connection: Connection;
  readonly rollOut: RollOut;
  readonly machine: RecordOfMachine;
  readonly name: string;
}

/**
 * Prepares the release that an update makes: records the former settings on this machine before the
 * save.
 * @returns what judges the release after the save; `undefined` if there is nothing to judge
 * @throws RollOutError if the release was refused before; nothing was saved
 */
export async function beginRelease(connection: Connection, situation: Situation): Promise<JudgeChange | undefined> {
  const { id, outputs, inputs } = situation;
  const rollOut = rollOutOf(inputs);
  const machine = recordOfMachine(id, connection.account);
  const name = String(inputs.name ?? outputs.name ?? id);
  await settleEarlier(connection, machine, situation, name);
  if (!rollOut) {
    machine.remove();
    return undefined;
  }
  const release: Release = { ...situation, connection, rollOut, machine, name };
  const sight = await look(release);
  // The save says that the endpoint is gone.
  if (!sight) return undefined;
  const first = decide(sight);
  const isUnknown = sight.record === undefined || sight.record.phase === "passed";
  const asksService = first.do === "release" && isUnknown;
  const step = asksService ? decide({ ...sight, shownRefusal: await shownRefusal(release, sight) }) : first;
  if (step.do === "nothing") return undefined;
  if (step.do === "refuse") throw refusal(step.reason, id, name, step.isShown);
  if (step.do === "restore") {
    log(name, "restores the settings before a release that was refused");
    const restored = await restore(connection, machine, {
      ...release,
      record: step.record,
      timeoutMs: rollOut.timeoutMs,
    });
    throw afterRestore(release, outputs, step.record, restored);
  }
  const { former } = step;
  const record: RollOutRecord = { phase: "judging", inputs: sight.inputs, release: step.release, former, reason: "" };
  machine.write(record);
  if (step.do === "judge")
    log(name, `its new release (${namesOf(releaseOf(former))}) already serves: it is judged now`);
  return (outs) => concludeRelease(release, outs, record);
}

/**
 * Ends what a killed run has left, if the program wants something else: it saves the former
 * settings again. State does not know that release, and would report "unchanged".
 * @throws RollOutError if the former settings cannot be read
 */
async function settleEarlier(
  { client, account }: Connection,
  machine: RecordOfMachine,
  { id, outputs, inputs }: Situation,
  name: string,
): Promise<void> {
  const record = machine.read();
  const known = record === "sealed" ? outputs : record?.release;
  if (!record || !known) return;
  const isLeft = record === "sealed" || isOpen(record, outputs);
  if (!isLeft || (record !== "sealed" && record.inputs === digestOf(inputs))) return;
  const now = await client.endpoints.find(id, { known });
  if (!now) return;
  if (record === "sealed") {
    const shown = releaseOf(pick(outputs, (field) => managedFields(FIELDS, outputs)?.includes(field) ?? false));
    if (!serves(shown, { ...now }))
      throw sealedElsewhere(id, name, "Run pulumi up --refresh: it starts from what serves");
    machine.remove();
    return;
  }
  const doesServe = serves(record.release, { ...now });
  if (doesServe && serves(wantedSettings(inputs, outputs), { ...now })) return;
  if (!doesServe) {
    machine.remove();
    return;
  }
  log(name, "takes back a release that a killed run has left");
  await saveFormer({ client, account }, now, record);
  await notePassed(client, machine, id, { ...record, inputs: "", release: record.former });
}

function sealedElsewhere(id: string, name: string, advice: string): RollOutError {
  return new RollOutError(
    `a run has left a release of ${describe(id, name)} without a verdict, and recorded its former settings with another API ` +
      `key, so they cannot be read. ${advice}`,
  );
}

/** Notes that a release serves and that up to its version, no release was refused. */
async function notePassed(client: Client, machine: RecordOfMachine, id: string, record: RollOutRecord): Promise<void> {
  const releases = await client.endpoints.releases(id).catch(() => undefined);
  const version = releases?.[0]?.version;
  machine.write({ ...record, phase: "passed", ...(version !== undefined && { version }) });
}

async function look({ connection, machine, id, name, inputs, outputs }: Release): Promise<Sight | undefined> {
  const now = await connection.client.endpoints.find(id, { known: inputs });
  if (!now) return undefined;
  const record = machine.read();
  const wanted = wantedSettings(inputs, outputs);
  const unjudged = unseal(connection.account.apiKey, outputs[UNJUDGED]);
  if (outputs[UNJUDGED] !== undefined && !unjudged && serves(wanted, { ...now })) {
    throw sealedElsewhere(id, name, "Change the release, or remove rollOut for one run to accept what serves");
  }
  return {
    ...{ record: record === "sealed" ? undefined : record, inputs: digestOf(inputs), wanted, now: { ...now } },
    ...{ state: outputs, unjudged, shownRefusal: undefined },
  };
}

/** Returns why the release was refused before on another machine, if the service shows that. */
async function shownRefusal(
  { connection, rollOut, id, name }: Release,
  { wanted, now, record }: Sight,
): Promise<string | undefined> {
  const releases = await connection.client.endpoints.releases(id);
  if (!releases) {
    log(name, "GraphQL does not show releases: whether another machine has refused this one is not known");
    return undefined;
  }
  // Nothing was refused up to a release that passed on this machine.
  const later = releases.filter(({ version = Infinity }) => version > (record?.version ?? -1));
  const shown = shownRefusals(later, differing(wanted, now), rollOut.watch?.seconds ?? 0);
  if (!shown || shown.count < rollOut.attempt) return undefined;
  const attempt = shown.count + 1;
  return `the service shows that it was made at ${shown.madeAt} and taken back at ${shown.restoredAt}; its next attempt is ${attempt}`;
}

/**
 * Judges a release that serves, and restores the former settings if it fails. Returns further
 * outputs.
 */
async function concludeRelease(release: Release, outs: Properties, record: RollOutRecord): Promise<Properties> {
  const { connection, machine, rollOut, id, name, inputs } = release;
  const unjudged = { [UNJUDGED]: seal(connection.account.apiKey, record.former) };
  const incomplete = (text: string) =>
    initFailure(new RollOutError(text), id, { ...outs, ...unjudged, __provider: inputs.__provider });
  if (outs.workersMax === 0) {
    log(name, "its new release is judged when workersMax is raised: at 0 it has no workers");
    return unjudged;
  }
  const which = describe(id, name);
  let reason: string | undefined;
  try {
    reason = await judge({ client: connection.client, id, name }, rollOut, inputs);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw incomplete(
      `the new release of ${which} serves, but it could not be judged: ${cause}. Run pulumi up again: it judges it`,
    );
  }
  if (reason === undefined) {
    await notePassed(connection.client, machine, id, record);
    log(name, "its new release has passed");
    return {};
  }
  if (!rollOut.restores) {
    machine.remove();
    throw incomplete(
      `the new release of ${which} failed: ${reason}. It still serves, because rollOut.onFailure is keep`,
    );
  }
  log(name, `its new release failed: ${reason}`);
  const failed = { ...record, reason };
  const restored = await restore(connection, machine, { id, name, record: failed, timeoutMs: rollOut.timeoutMs });
  // A run that is killed here leaves the state of the last run, which has the former settings.
  throw afterRestore(release, restored.endpoint ? release.outputs : outs, failed, restored);
}

/**
 * Returns the error after a restore. It leaves state as it is if the former settings are out and
 * state has them; otherwise it records what serves.
 * @param outs the outputs to record, apart from the settings that are restored
 */
function afterRestore(
  { connection, id, name, inputs }: Release,
  outs: Properties,
  { release, former, reason }: RollOutRecord,
  { endpoint, problem, isForeign }: Restored,
): Error {
  const which = describe(id, name);
  const { [UNJUDGED]: _, ...others } = outs;
  const counts = pick(outs, (field) => field === "workersMin" || field === "workersMax");
  const hasCounts = endpoint !== undefined && Object.keys(differing(counts, { ...endpoint })).length === 0;
  const isKnown = outs[UNJUDGED] === undefined && !serves(release, outs) && serves(former, outs) && hasCounts;
  if (problem === undefined && isKnown) return refusal(reason, id, name);
  const restored = endpoint && sameSettings({ ...former, ...counts }, { ...endpoint });
  const properties = restored
    ? { ...withSettings(others, restored, inputs), __provider: inputs.__provider }
    : { ...others, [UNJUDGED]: seal(connection.account.apiKey, former), __provider: inputs.__provider };
  if (problem === undefined) return initFailure(refusal(reason, id, name), id, properties);
  const text = isForeign
    ? `the new release of ${which} failed (${reason}), and ${problem}: that was left as it is`
    : endpoint
      ? `the former settings of ${which} are saved again, because its new release failed (${reason}), but they are not out: ` +
        `${problem}. Run pulumi up again: it waits for the rest`
      : `the new release of ${which} failed (${reason}) and still serves, because its former settings could not be saved: ` +
        `${problem}. Run pulumi up again: it restores them first`;
  return initFailure(new RollOutError(text), id, properties);
}

/** @param isShown `true` if only the service's releases tell that it was refused */
function refusal(reason: string, id: string, name: string, isShown = false): RollOutError {
  const change = isShown ? "change its image, variables or another setting of the release" : "change the program";
  return new RollOutError(
    `the new release of ${describe(id, name)} was refused: ${reason}. The endpoint serves with its former settings. The same ` +
      `release is not tried again: ${change}, or set rollOut.attempt to a higher number to try it once more`,
  );
}

function describe(id: string, name: string): string {
  return `endpoint ${id} ("${name}")`;
}

/**
 * Returns outputs with restored settings. A variable that is `null` is not there. Values that were
 * secret, or may have been, stay it: the engine would take that from the new inputs.
 */
function withSettings(outs: Properties, { env, ...settings }: Properties, inputs: Properties): Properties {
  const wanted = objectOrEmpty(inputs.env);
  const restored = Object.entries(objectOrEmpty(env)).map(([name, value]) => [
    name,
    value === null || value === wanted[name] ? value : secretValue(value),
  ]);
  const variables = Object.entries({ ...objectOrEmpty(outs.env), ...Object.fromEntries(restored) });
  const present = Object.fromEntries(variables.filter(([, value]) => value !== null));
  const secrets = secretFields(outs);
  const others = Object.entries(settings).map(([name, value]) => [
    name,
    secrets.includes(name) ? secretValue(value) : value,
  ]);
  return { ...outs, ...Object.fromEntries(others), ...(isObject(outs.env) && { env: present }) };
}

/**
 * Returns `true` if an update has to judge a release, or to take it back. Logs in a preview what
 * `up` does about an earlier release. Makes no request.
 */
export function isReleaseOpen({ id, outputs, inputs }: Situation): boolean {
  const account = currentPlace()?.account;
  const record = account && recordOfMachine(id, account).read();
  const isLeft = record === "sealed" || (record !== undefined && isOpen(record, outputs));
  const name = String(inputs.name ?? outputs.name ?? id);
  const isRefused =
    record !== undefined && record !== "sealed" && hasFailed(record) && record.inputs === digestOf(inputs);
  if (isRefused && rollOutOf(inputs)) {
    log(
      name,
      `warning: this release was refused before, and up refuses it again until the program changes or rollOut.attempt is raised: ${record.reason}`,
    );
  }
  const isNoted = outputs[UNJUDGED] !== undefined && inputs.rollOut !== undefined;
  // It is judged when it has workers.
  if (isNoted && outputs.workersMax === 0 && Number(inputs.workersMax ?? 0) === 0) return false;
  if (isLeft) {
    log(name, "a killed run has left a release: up judges it, or takes it back if the program differs");
  }
  // State may have a refused release that somebody has saved again: it is restored.
  return isNoted || isLeft || (isRefused && serves(record.release, outputs));
}

/**
 * Returns the output of a refresh that notes the settings before a release that it finds: state
 * then no longer has them.
 */
export function noteUnjudged(outputs: Properties, fields: Properties): Properties {
  const apiKey = currentPlace()?.account.apiKey;
  if (!isObject(outputs.rollOut) || apiKey === undefined) return {};
  const noted = unseal(apiKey, outputs[UNJUDGED]) ?? {};
  const managed = managedFields(FIELDS, outputs) ?? [];
  const known = releaseOf(pick(outputs, (name) => managed.includes(name)));
  const found = sameSettings(differing(known, fields), outputs);
  const former = merged(found, noted);
  const isThere = Object.keys(former).length > 0 && !serves(former, fields);
  if (!isThere) return {};
  const isNew = Object.keys(found).length > 0;
  return { [UNJUDGED]: isNew ? seal(apiKey, former) : outputs[UNJUDGED] };
}
