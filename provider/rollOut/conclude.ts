import { FIELDS } from "../../sdk/endpoints/fields";
import type { Endpoint } from "../../sdk/endpoints/record";
import { CodedError } from "../../sdk/errors";
import type { Connection } from "../connection/connection";
import type { ProviderClient } from "../connection/providerClient";
import { initFailure } from "../engineErrors";
import { changedIn } from "../fields/managed";
import { secretFields } from "../hideSecretInputs";
import { log } from "../log";
import { seal } from "../machine/seal";
import { forgetWrite, lastWrite, writeOutput } from "../machine/unfinishedWrite";
import { isObject, objectOrEmpty, type Properties, pick, secretValue } from "../properties";
import type { Situation } from "../records/recordKind";
import { ADOPTING, isAdopting, leaveChanged, putBackOf, UNJUDGED } from "./adopting";
import type { RollOutRecord } from "./decide";
import { judge } from "./judge";
import type { RecordOfMachine } from "./record";
import { type Restored, restore } from "./restore";
import type { RollOut } from "./rollOutInputs";
import { differing, releaseOf, sameSettings, serves } from "./settings";

/** One update of an endpoint with a `rollOut`. */
export interface Release extends Situation {
  readonly isAdoption: boolean;
  readonly connection: Connection;
  readonly rollOut: RollOut;
  readonly machine: RecordOfMachine;
  readonly name: string;
}

/**
 * Judges a release that serves, and restores the former settings if it fails. Returns further
 * outputs.
 * @param tested the endpoint as it was saved
 */
export async function concludeRelease(
  release: Release,
  outs: Properties,
  record: RollOutRecord,
  tested: Properties,
): Promise<Properties> {
  const { connection, machine, rollOut, id, name, inputs, isAdoption } = release;
  const unjudged = { [UNJUDGED]: seal(connection.account.apiKey, record.former) };
  const incomplete = (text: string, state: Properties = open(release, outs)) =>
    initFailure(new CodedError("ROLL_OUT", text), id, {
      ...{ ...state, ...unjudged, ...adopting(release), __provider: inputs.__provider },
    });
  if (outs.workersMax === 0) {
    log(name, "its new release is judged when workersMax is raised: at 0 it has no workers");
    return unjudged;
  }
  const which = describe(id, name);
  const verdict = await judge({ client: connection.client, id, name }, rollOut, inputs).then(
    (reason) => ({ reason, problem: undefined }),
    (error: unknown) => ({ reason: undefined, problem: error instanceof Error ? error.message : String(error) }),
  );
  const reading = connection.client.endpoints.get(id, { known: inputs });
  const now = await reading.catch((error: Error) => error);
  if (!(now instanceof Error)) {
    const others = changedIn(FIELDS, tested, releaseOf({ ...now }));
    if (others.length > 0) throw await changedMeanwhile(release, outs, record, now, others);
  }
  const problem = verdict.problem ?? (now instanceof Error ? now.message : undefined);
  if (problem !== undefined) {
    throw incomplete(
      `the new release of ${which} serves, but it could not be judged: ${problem}. Run pulumi up again: it judges it`,
    );
  }
  const { reason } = verdict;
  if (reason === undefined) {
    await notePassed(connection.client, machine, id, record);
    log(name, "its new release has passed");
    return {};
  }
  if (!rollOut.restores) {
    machine.remove();
    throw incomplete(
      `the new release of ${which} failed: ${reason}. It still serves, because rollOut.onFailure is keep`,
      outs,
    );
  }
  log(name, `its new release failed: ${reason}`);
  if (isAdoption && Object.keys(releaseOf(record.former)).length === 0)
    throw await refuseFound(release, record, reason);
  const failed = { ...record, reason };
  const restored = await restore(connection, machine, { id, name, record: failed, timeoutMs: rollOut.timeoutMs });
  // A run that is killed here leaves the state of the last run, which has the former settings.
  throw afterRestore(release, restored.endpoint ? release.outputs : outs, failed, restored);
}

/**
 * Returns the error after an adoption that found the program's release at the endpoint, and that
 * release failed. This machine does not know what served before.
 */
async function refuseFound(
  { connection, machine, rollOut, id, name }: Release,
  record: RollOutRecord,
  reason: string,
): Promise<Error> {
  const { problem } = await restore(connection, machine, { id, name, record, timeoutMs: rollOut.timeoutMs });
  // It is judged again: no run has taken it back.
  machine.remove();
  const releases = await connection.client.endpoints.releases(id).catch(() => undefined);
  const before = releases?.[1]?.version ?? "<version>";
  const left = problem === undefined ? "" : `. Its other settings could not be put back: ${problem}`;
  return new CodedError(
    "ROLL_OUT",
    `${describe(id, name)} was not adopted: it already had the program's release, and that failed: ${reason}${left}. This run ` +
      `has not made that release, and leaves it. Perhaps a run on another machine was killed after it made it: serverless-gpu history ` +
      `${id} shows the releases, and serverless-gpu rollback ${id} --to ${before} what takes the last one back (with --yes, it does ` +
      "so). Otherwise change the program",
  );
}

/** Returns outputs of a release without a verdict: this machine's notes of it still hold. */
function open({ outputs }: Release, outs: Properties): Properties {
  return { ...pick(outs, (name) => name !== "__write"), ...writeOutput(lastWrite(outputs)) };
}

/** Returns the output of an adoption whose release has not passed. */
function adopting({ isAdoption, outputs }: Release): Properties {
  return isAdoption || isAdopting(outputs) ? { [ADOPTING]: true } : {};
}

/**
 * Returns the error after somebody else has changed the release while it was judged: what was seen
 * says nothing about this one. State gets what serves. An endpoint that was to be adopted gets back
 * what makes no release.
 */
async function changedMeanwhile(
  { connection, machine, id, name, inputs, isAdoption, outputs }: Release,
  outs: Properties,
  record: RollOutRecord,
  now: Endpoint,
  fields: readonly string[],
): Promise<Error> {
  const { account } = connection;
  const error = (outcome: string) =>
    new CodedError(
      "ROLL_OUT",
      `the new release of ${describe(id, name)} was neither accepted nor taken back: someone else has changed ` +
        `${fields.join(", ")} while it was judged. That was left as it is. Run pulumi up again: it saves the program's release ` +
        `and judges it${outcome}`,
    );
  if (isAdoption) {
    const left = await leaveChanged(connection, machine, now, record);
    forgetWrite({ service: account.service, noun: "endpoint", id });
    return error(`. The endpoint was not adopted${left}`);
  }
  machine.remove();
  const serving = sameSettings(releaseOf(pick(outs, (field) => Object.hasOwn(FIELDS, field))), { ...now });
  const { former } = putBackOf(record, now);
  return initFailure(error(""), id, {
    ...withSettings(outs, serving, inputs),
    ...(isAdopting(outputs) && { [ADOPTING]: true, [UNJUDGED]: seal(account.apiKey, former) }),
    __provider: inputs.__provider,
  });
}

/**
 * Returns the error after a restore. It leaves state as it is if the former settings are out and
 * state has them, or does not have the endpoint; otherwise it records what serves.
 * @param outs the outputs to record, apart from the settings that are restored
 */
export function afterRestore(
  release: Release,
  outs: Properties,
  { release: refused, former, reason }: RollOutRecord,
  { endpoint, problem, isForeign }: Restored,
): Error {
  const { connection, id, name, inputs, isAdoption } = release;
  const which = describe(id, name);
  const { [UNJUDGED]: _, ...others } = { ...open(release, outs), ...adopting(release) };
  const counts = pick(outs, (field) => field === "workersMin" || field === "workersMax");
  const hasCounts = endpoint !== undefined && Object.keys(differing(counts, { ...endpoint })).length === 0;
  const isKnown = outs[UNJUDGED] === undefined && !serves(refused, outs) && serves(former, outs) && hasCounts;
  if (problem === undefined && (isKnown || isAdoption)) return refusal(reason, id, name);
  const restored = endpoint && sameSettings({ ...former, ...counts }, { ...endpoint });
  const properties = restored
    ? { ...withSettings(others, restored, inputs), __provider: inputs.__provider }
    : { ...others, [UNJUDGED]: seal(connection.account.apiKey, former), __provider: inputs.__provider };
  if (problem === undefined) return initFailure(refusal(reason, id, name), id, properties);
  const text = isForeign
    ? `the new release of ${which} failed (${reason}), and ${problem}: that was left as it is`
    : endpoint
      ? `the previous settings of ${which} are saved again, because its new release failed (${reason}), but they are not out: ` +
        `${problem}. Run pulumi up again: it waits for the rest`
      : `the new release of ${which} failed (${reason}) and still serves, because its previous settings could not be saved: ` +
        `${problem}. Run pulumi up again: it restores them first`;
  // Nothing of the program's is left at an endpoint that was to be adopted.
  if (isAdoption && endpoint) return new CodedError("ROLL_OUT", text);
  return initFailure(new CodedError("ROLL_OUT", text), id, properties);
}

/** @param isShown `true` if only the service's releases tell that it was refused */
export function refusal(reason: string, id: string, name: string, isShown = false): CodedError {
  const change = isShown ? "change its image, variables or another setting of the release" : "change the program";
  return new CodedError(
    "ROLL_OUT",
    `the new release of ${describe(id, name)} was refused: ${reason}. The endpoint serves with its previous settings. The same ` +
      `release is not tried again: ${change}, or set rollOut.attempt to a higher number to try it once more`,
  );
}

export function describe(id: string, name: string): string {
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

/** Notes that a release serves and that up to its version, no release was refused. */
export async function notePassed(
  client: ProviderClient,
  machine: RecordOfMachine,
  id: string,
  record: RollOutRecord,
): Promise<void> {
  const releases = await client.endpoints.releases(id).catch(() => undefined);
  const version = releases?.[0]?.version;
  machine.write({ ...record, phase: "passed", ...(version !== undefined && { version }) });
}
