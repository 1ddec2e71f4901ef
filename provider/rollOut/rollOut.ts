import { FIELDS } from "../../sdk/endpoints/fields";
import { CodedError } from "../../sdk/errors";
import type { Connection } from "../connection/connection";
import { currentPlace } from "../connection/connection";
import { managedFields } from "../fields/managed";
import { log } from "../log";
import { lastWrite } from "../machine/lastWrite";
import { seal, unseal } from "../machine/seal";
import { isObject, type Properties, pick } from "../properties";
import type { JudgeChange, Situation } from "../records/recordKind";
import { adoptionOf, isAdopting, leaveChanged, putBackOf, UNJUDGED } from "./adopting";
import { afterRestore, concludeRelease, namedEndpoint, notePassed, type ReleaseUpdate, refusal } from "./conclude";
import { isOpen, nextStep, type RollOutRecord, type Sight, wasRefused } from "./decide";
import { forgetRollOut, inputsDigest, type RolloutPlace, readRollOut, writeRollOut } from "./record";
import { restore, saveFormer } from "./restore";
import { rollOutOf } from "./rollOutInputs";
import {
  differing,
  mergedSettings,
  namesOf,
  nested,
  releaseOf,
  sameSettings,
  serves,
  wantedSettings,
  without,
} from "./settings";
import { shownRefusals } from "./shownRefusals";

/**
 * Prepares the release that an update makes. Records the previous settings on this machine before
 * the save.
 * @returns the function that judges the release after the save, or `undefined` if there is nothing
 * to judge
 * @throws ROLL_OUT if the release was refused before; nothing was saved
 */
export async function beginRelease(
  connection: Connection,
  situation: Situation,
  isAdoption: boolean,
): Promise<JudgeChange | undefined> {
  const { id, outputs, inputs } = situation;
  const rollOut = rollOutOf(inputs);
  const place = { id, connection };
  const name = String(inputs.name ?? outputs.name ?? id);
  if (!isAdoption) await settleEarlier(connection, situation, false);
  // The state contains the endpoint, and this update verifies it. An adoption that was under way
  // before no longer matters.
  if (!isAdoption && (!rollOut || !readRollOut(place, outputs))) forgetRollOut(place);
  if (!rollOut) return isAdoption ? noteAdoption(place, situation, name) : undefined;
  const release: ReleaseUpdate = { ...situation, isAdoption, connection, rollOut, name };
  const sight = await look(release);
  // The endpoint is gone, and the save will report that.
  if (!sight) return undefined;
  const first = nextStep(sight);
  const isUnknown = sight.record === undefined || sight.record.phase === "passed";
  const asksService = first.do === "release" && isUnknown;
  const step = asksService ? nextStep({ ...sight, shownRefusal: await shownRefusal(release, sight) }) : first;
  if (step.do === "nothing") return undefined;
  if (step.do === "refuse") throw refusal(step.reason, id, name, step.isShown);
  if (step.do === "restore") {
    log(name, "restores the settings from before a release that failed");
    const restored = await restore(release, step.record);
    throw afterRestore(release, outputs, step.record, restored);
  }
  const { former } = step;
  const record: RollOutRecord = {
    phase: "judging",
    inputs: sight.inputs,
    release: step.release,
    former,
    reason: "",
    after: lastWrite(outputs),
    ...(isAdoption && { adoption: name }),
  };
  writeRollOut(place, record);
  if (step.do === "judge")
    log(name, `its new release${inBrackets(releaseOf(former))} is already in service and is judged now`);
  return (outs, saved = sight.now) => concludeRelease(release, outs, record, { ...saved });
}

/**
 * Records what an adoption without a `rollOut` changes, until the adoption ends. If the run is
 * killed and the resource is then removed from the program, the endpoint is in no state. Over REST
 * v2, the previous template is not known.
 */
function noteAdoption(place: RolloutPlace, { outputs, inputs }: Situation, name: string): JudgeChange | undefined {
  const earlier = readRollOut(place, outputs);
  const left = earlier === undefined || earlier === "sealed" ? {} : putBackOf(earlier, outputs).former;
  const changes = differing(wantedSettings(inputs, outputs), outputs);
  const before = mergedSettings(sameSettings(changes, outputs), left);
  const former = pick(before, (field) => field !== "templateId" || before[field] !== "");
  if (Object.keys(former).length === 0) {
    forgetRollOut(place);
    return undefined;
  }
  writeRollOut(place, adoptionOf(name, sameSettings(former, mergedSettings(outputs, changes)), former));
  return async () => {
    forgetRollOut(place);
    return {};
  };
}

function inBrackets(settings: Properties): string {
  return Object.keys(settings).length === 0 ? "" : ` (${namesOf(settings)})`;
}

/**
 * Reverts a release that a killed run left behind, if the program now wants something else, by
 * saving the previous settings again. Without this, the update would report "unchanged", because
 * that release is not in state. An adoption calls this function before it reads the endpoint.
 * @throws ROLL_OUT if the previous settings cannot be read
 */
export async function settleEarlier(
  connection: Connection,
  { id, outputs, inputs }: Situation,
  isAdoption: boolean,
): Promise<void> {
  const { endpoints } = connection.client;
  const place = { id, connection };
  const name = String(inputs.name ?? outputs.name ?? id);
  const record = readRollOut(place, outputs);
  if (record === "sealed") {
    const now = await endpoints.find(id, { known: outputs });
    const shown = releaseOf(pick(outputs, (field) => managedFields(FIELDS, outputs)?.includes(field) ?? false));
    if (now && !serves(shown, { ...now }))
      throw sealedElsewhere(id, name, "Run pulumi up --refresh, which starts from the settings that are in service");
    if (now) forgetRollOut(place);
    return;
  }
  if (!record || !isOpen(record, outputs)) return;
  const isSame = record.inputs === inputsDigest(inputs);
  if (isSame && !isAdoption) return;
  const now = await endpoints.find(id, { known: nested(record.release) });
  if (!now) return;
  const doesServe = serves(record.release, { ...now });
  if (isAdoption && !doesServe && !serves(record.former, { ...now })) {
    await leaveChanged(connection, now, record);
    return;
  }
  if (isSame) return;
  if (!doesServe) {
    forgetRollOut(place);
    return;
  }
  const wanted = wantedSettings(inputs, outputs);
  if (!serves(wanted, { ...now })) {
    log(name, "rolls back a release that an earlier run left behind");
    await saveFormer(connection, now, record);
    await notePassed(place, { ...record, inputs: "", release: record.former });
  } else if (isAdoption) {
    // An update doesn't need this, because its own save restores these settings.
    await saveFormer(connection, now, putBackOf({ ...record, release: without(record.release, wanted) }, now));
  }
}

function sealedElsewhere(id: string, name: string, advice: string): CodedError {
  return new CodedError(
    "ROLL_OUT",
    `an earlier run did not finish judging a release of ${namedEndpoint(id, name)}. It recorded the previous settings with ` +
      `another API key, so they cannot be read. ${advice}`,
  );
}

async function look(release: ReleaseUpdate): Promise<Sight | undefined> {
  const { connection, id, name, inputs, outputs, isAdoption } = release;
  const now = await connection.client.endpoints.find(id, { known: inputs });
  if (!now) return undefined;
  const record = readRollOut(release, outputs);
  const wanted = wantedSettings(inputs, outputs);
  const unjudged = unseal(connection.account.apiKey, outputs[UNJUDGED]);
  if (outputs[UNJUDGED] !== undefined && !unjudged && serves(wanted, { ...now })) {
    throw sealedElsewhere(
      id,
      name,
      "Change the release, or remove rollOut for one run to accept the release that is in service",
    );
  }
  return {
    record: record === "sealed" ? undefined : record,
    inputs: inputsDigest(inputs),
    wanted,
    now: { ...now },
    // Settings that an earlier run left may have been reverted since the endpoint was read.
    state: isAdoption ? { ...now } : outputs,
    isAdoption,
    unjudged,
    shownRefusal: undefined,
  };
}

/** Returns why another machine refused the release before, if RunPod shows that. */
async function shownRefusal(
  { connection, rollOut, id, name }: ReleaseUpdate,
  { wanted, now, record }: Sight,
): Promise<string | undefined> {
  const releases = await connection.client.endpoints.releases(id);
  if (!releases) {
    log(
      name,
      "GraphQL does not show releases, so this run cannot tell whether another machine has rolled this one back",
    );
    return undefined;
  }
  // Look only at newer releases, because no release up to the one that passed on this machine was
  // refused.
  const later = releases.filter(({ version = Infinity }) => version > (record?.version ?? -1));
  const shown = shownRefusals(later, differing(wanted, now), rollOut.watch?.seconds ?? 0);
  if (!shown || shown.count < rollOut.attempt) return undefined;
  const attempt = shown.count + 1;
  return `the service shows that it was made at ${shown.madeAt} and rolled back at ${shown.restoredAt}; its next attempt is ${attempt}`;
}

/**
 * Returns `true` if an update has to judge a release or roll it back. In a preview, logs what `up`
 * will do about an earlier release. Makes no request.
 */
export function isReleaseOpen({ id, outputs, inputs }: Situation): boolean {
  const account = currentPlace()?.account;
  const record = account && readRollOut({ id, connection: { account } }, outputs);
  const isLeft = record === "sealed" || (record !== undefined && isOpen(record, outputs));
  const name = String(inputs.name ?? outputs.name ?? id);
  const isRefused =
    record !== undefined && record !== "sealed" && wasRefused(record) && record.inputs === inputsDigest(inputs);
  if (isRefused && rollOutOf(inputs)) {
    log(
      name,
      `warning: this release failed before, and up does not try it again until the program changes or rollOut.attempt is raised: ${record.reason}`,
    );
  }
  const isNoted = outputs[UNJUDGED] !== undefined && inputs.rollOut !== undefined;
  // The release will be judged once the endpoint has workers.
  if (isNoted && outputs.workersMax === 0 && Number(inputs.workersMax ?? 0) === 0) return false;
  if (isLeft) {
    log(
      name,
      "an earlier run may have left a release that was not judged: up judges it, or rolls it back if the program has changed",
    );
  }
  // Someone may have saved a refused release again, and a refresh may have stored it in state. In
  // that case, the update restores the previous settings.
  return isNoted || isLeft || (isRefused && serves(record.release, outputs));
}

/**
 * Returns the output in which a refresh keeps the settings from before a release that it finds.
 * After the refresh, no other output contains these settings.
 */
export function noteUnjudged(outputs: Properties, fields: Properties): Properties {
  const apiKey = currentPlace()?.account.apiKey;
  if (!isObject(outputs.rollOut) || apiKey === undefined) return {};
  const noted = unseal(apiKey, outputs[UNJUDGED]) ?? {};
  const managed = managedFields(FIELDS, outputs) ?? [];
  const known = releaseOf(pick(outputs, (name) => managed.includes(name)));
  const found = sameSettings(differing(known, fields), outputs);
  const former = mergedSettings(found, noted);
  // When an endpoint is removed during its adoption, the settings that cause no rollout are
  // restored, too.
  const isBack = isAdopting(outputs) ? Object.keys(differing(former, fields)).length === 0 : serves(former, fields);
  const isThere = Object.keys(former).length > 0 && !isBack;
  if (!isThere) return {};
  const isNew = Object.keys(found).length > 0;
  return { [UNJUDGED]: isNew ? seal(apiKey, former) : outputs[UNJUDGED] };
}
