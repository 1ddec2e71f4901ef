import { FIELDS } from "../../sdk/endpoints/fields";
import type { Endpoint } from "../../sdk/endpoints/record";
import { CodedError } from "../../sdk/errors";
import type { Connection } from "../connection/connection";
import { initFailure, messageOf } from "../engineErrors";
import { changedIn } from "../fields/managed";
import { secretFields } from "../hideSecretInputs";
import { log } from "../log";
import { lastWrite, writeOutput } from "../machine/lastWrite";
import { seal } from "../machine/seal";
import { forgetWrite } from "../machine/unfinishedWrite";
import { isObject, objectOrEmpty, type Properties, pick, secretValue } from "../properties";
import type { Situation } from "../records/recordKind";
import { ADOPTING, isAdopting, leaveChanged, putBackOf, UNJUDGED } from "./adopting";
import type { RollOutRecord } from "./decide";
import { judge } from "./judge";
import { forgetRollOut, writeRollOut } from "./record";
import { type Restored, restore } from "./restore";
import type { RollOut } from "./rollOutInputs";
import { differing, isReleaseField, nested, releaseOf, sameSettings, serves } from "./settings";

/** One update of an endpoint with a `rollOut`. */
export interface ReleaseUpdate extends Situation {
  readonly isAdoption: boolean;
  readonly connection: Connection;
  readonly rollOut: RollOut;
  readonly name: string;
}

/**
 * Judges a release that is in effect, and restores the previous settings if the release fails.
 * Returns additional outputs.
 * @param tested the endpoint as it was saved
 */
export async function concludeRelease(
  release: ReleaseUpdate,
  outs: Properties,
  record: RollOutRecord,
  tested: Properties,
): Promise<Properties> {
  const { connection, rollOut, id, name, inputs, isAdoption } = release;
  const { client } = connection;
  const unjudged = { [UNJUDGED]: seal(connection.account.apiKey, record.former) };
  if (outs.workersMax === 0) {
    log(name, "its new release is judged once workersMax is raised, because with workersMax 0 it has no workers");
    return unjudged;
  }
  const which = namedEndpoint(id, name);
  const verdict = await judge({ client, id, name }, rollOut, inputs).then(
    (reason) => ({ reason, problem: undefined }),
    (error: unknown) => ({ reason: undefined, problem: messageOf(error) }),
  );
  const now = await client.endpoints.get(id, { known: inputs }).catch((error: Error) => error);
  if (!(now instanceof Error)) {
    const others = changedIn(FIELDS, tested, pick({ ...now }, isReleaseField));
    if (others.length > 0) throw await changedMeanwhile(release, outs, record, now, others);
  }
  const problem = verdict.problem ?? (now instanceof Error ? now.message : undefined);
  if (problem !== undefined) {
    const state = now instanceof Error ? "may be" : "is";
    const text = `the new release of ${which} ${state} in service, but it could not be judged: ${problem}. Run pulumi up again to judge it`;
    throw partly(release, text, { ...open(release, outs), ...unjudged, ...adopting(release) });
  }
  const { reason } = verdict;
  if (reason === undefined) {
    await notePassed(release, record);
    log(name, "its new release has passed");
    return {};
  }
  if (!rollOut.restores) {
    forgetRollOut(release);
    const text = `the new release of ${which} failed: ${reason}. It is still in service, because rollOut.onFailure is keep`;
    throw partly(release, text, { ...outs, ...unjudged, ...adopting(release) });
  }
  log(name, `its new release failed: ${reason}`);
  if (isAdoption && Object.keys(releaseOf(record.former)).length === 0)
    throw await refuseFound(release, record, reason);
  const failed = { ...record, reason };
  const restored = await restore(release, failed);
  // If the run is killed here, state is still the state of the last run, which contains the
  // previous settings.
  throw afterRestore(release, restored.endpoint ? release.outputs : outs, failed, restored);
}

/**
 * Returns the error for an adoption of an endpoint that was already serving the program's release,
 * which has failed. This machine does not know what the endpoint served before.
 */
async function refuseFound(release: ReleaseUpdate, record: RollOutRecord, reason: string): Promise<Error> {
  const { connection, id, name } = release;
  const { problem } = await restore(release, record);
  // The next run judges the release again, because no run has rolled it back.
  forgetRollOut(release);
  const releases = await connection.client.endpoints.releases(id).catch(() => undefined);
  const before = releases?.[1]?.version ?? "<version>";
  const left = problem === undefined ? "" : `. Its other settings could not be restored: ${problem}`;
  return new CodedError(
    "ROLL_OUT",
    [
      `${namedEndpoint(id, name)} was not adopted: it already had the program's release, which failed: ${reason}${left}. ` +
        "This run did not make that release, so it did not roll it back.",
      "Perhaps a run on another machine was killed after it made that release. " +
        `npx pulumi-serverless-gpu history ${id} shows the releases. npx pulumi-serverless-gpu rollback ${id} --to ${before} shows how to roll the ` +
        "last one back, and does so with --yes.",
      "Otherwise change the program",
    ].join("\n"),
  );
}

/** Returns an error that makes the engine store in state what is currently in effect. */
function partly({ id, inputs }: ReleaseUpdate, text: string, state: Properties): Error {
  return initFailure(new CodedError("ROLL_OUT", text), id, { ...state, __provider: inputs.__provider });
}

/**
 * Returns the outputs for a release that has not been judged, so that this machine's notes about
 * the release remain valid.
 */
function open({ outputs }: ReleaseUpdate, outs: Properties): Properties {
  return { ...pick(outs, (name) => name !== "__write"), ...writeOutput(lastWrite(outputs)) };
}

/** Returns the output that marks an adoption whose release has not passed. */
function adopting({ isAdoption, outputs }: ReleaseUpdate): Properties {
  return isAdoption || isAdopting(outputs) ? { [ADOPTING]: true } : {};
}

/**
 * Returns the error for a release that someone else changed while it was being judged. The
 * observations then say nothing about the current release. State records what is in effect now. If
 * the endpoint was being adopted, the settings that do not make a release are restored.
 */
async function changedMeanwhile(
  release: ReleaseUpdate,
  outs: Properties,
  record: RollOutRecord,
  now: Endpoint,
  fields: readonly string[],
): Promise<Error> {
  const { connection, id, name, inputs, isAdoption, outputs } = release;
  const { account } = connection;
  const text =
    `the new release of ${namedEndpoint(id, name)} was neither accepted nor rolled back: someone else changed ` +
    `${fields.join(", ")} while it was being judged. Their change was kept. Run pulumi up again to save the program's ` +
    "release and judge it";
  if (isAdoption) {
    const left = await leaveChanged(connection, now, record);
    forgetWrite({ service: account.service, noun: "endpoint", id });
    return new CodedError("ROLL_OUT", `${text}. The endpoint was not adopted${left}`);
  }
  forgetRollOut(release);
  const serving = sameSettings(releaseOf(pick(outs, (field) => Object.hasOwn(FIELDS, field))), { ...now });
  const { former } = putBackOf(record, now);
  return partly(release, text, {
    ...withSettings(outs, serving, inputs),
    ...(isAdopting(outputs) && { [ADOPTING]: true, [UNJUDGED]: seal(account.apiKey, former) }),
  });
}

/**
 * Returns the error to throw after a restore. State is left unchanged if the previous settings are
 * rolled out and state already contains them or does not contain the endpoint. Otherwise, the error
 * makes the engine store in state what is in effect.
 * @param outs the outputs to record, apart from the settings that are restored
 */
export function afterRestore(
  release: ReleaseUpdate,
  outs: Properties,
  { release: refused, former, reason }: RollOutRecord,
  { endpoint, problem, isForeign }: Restored,
): Error {
  const { connection, id, name, inputs, isAdoption } = release;
  const which = namedEndpoint(id, name);
  const { [UNJUDGED]: _, ...others } = { ...open(release, outs), ...adopting(release) };
  const counts = pick(outs, (field) => field === "workersMin" || field === "workersMax");
  const hasCounts = endpoint !== undefined && Object.keys(differing(counts, { ...endpoint })).length === 0;
  const isKnown = outs[UNJUDGED] === undefined && !serves(refused, outs) && serves(former, outs) && hasCounts;
  if (problem === undefined && (isKnown || isAdoption)) return refusal(reason, id, name);
  const restored = endpoint && sameSettings({ ...former, ...counts }, { ...endpoint });
  const state = restored
    ? withSettings(others, restored, inputs)
    : { ...others, [UNJUDGED]: seal(connection.account.apiKey, former) };
  if (problem === undefined) return partly(release, refusal(reason, id, name).message, state);
  const text = isForeign
    ? `the new release of ${which} failed (${reason}), and ${problem}. Their change was kept, so the release was not rolled back`
    : endpoint
      ? `the new release of ${which} failed (${reason}). Its previous settings are saved again, but the rollback is not ` +
        `complete: ${problem}. Run pulumi up again: it waits for the rest`
      : `the new release of ${which} failed (${reason}) and may still be in service, because restoring its previous settings ` +
        `failed: ${problem}. Run pulumi up again: it restores them first`;
  // The endpoint was not adopted after all, and none of the program's settings remain on it.
  if (isAdoption && endpoint) return new CodedError("ROLL_OUT", text);
  return partly(release, text, state);
}

/** @param isShown `true` if the refusal is known only from RunPod's list of releases */
export function refusal(reason: string, id: string, name: string, isShown = false): CodedError {
  const change = isShown ? "change its image, variables or another setting of the release" : "change the program";
  const what = isShown ? "was rolled back" : "failed and was rolled back";
  return new CodedError(
    "ROLL_OUT",
    `the new release of ${namedEndpoint(id, name)} ${what}: ${reason}. The endpoint runs with its previous ` +
      `settings. up does not try the same release again: ${change}, or set rollOut.attempt to a higher number to try it ` +
      "once more",
  );
}

export function namedEndpoint(id: string, name: string): string {
  return `endpoint ${id} ("${name}")`;
}

/**
 * Returns the outputs with restored settings. A variable whose value is `null` is absent. Values
 * that were secret, or may have been secret, are marked as secret. Otherwise, the engine would
 * decide that from the new inputs.
 */
function withSettings(outs: Properties, restoredSettings: Properties, inputs: Properties): Properties {
  const { env, ...settings } = nested(restoredSettings);
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

/** Notes that a release is in effect and that no release up to its version was refused. */
export async function notePassed(
  place: { readonly connection: Connection; readonly id: string },
  record: RollOutRecord,
): Promise<void> {
  const releases = await place.connection.client.endpoints.releases(place.id).catch(() => undefined);
  const version = releases?.[0]?.version;
  writeRollOut(place, { ...record, phase: "passed", ...(version !== undefined && { version }) });
}
