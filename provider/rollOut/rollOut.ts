import { FIELDS } from "../../sdk/endpoints/fields";
import type { Endpoint } from "../../sdk/endpoints/record";
import { CodedError } from "../../sdk/errors/errors";
import type { Connection } from "../connection/connection";
import { initFailure, messageOf } from "../engine/errors";
import { log } from "../engine/log";
import { type Properties, pick } from "../engine/properties";
import { changedIn, managedFields } from "../fields/managed";
import { differing, fieldOf, flat } from "../fields/settings";
import { lastWrite, ownerOf, stampOutput } from "../machine/stamp";
import type { Settling } from "../records/recordHandlers";
import type { Undone } from "../records/write";
import { evidenceOf } from "../smokeTest/evidence";
import { judge } from "./judge";
import { isNotPassed, isReleaseField } from "./passed";
import { type RollOut, rollOutOf } from "./rollOutInputs";

/*
 * A rollout is one update: save, wait, test, watch, and then, if the release fails, save the
 * previous release again.
 */

/** An update or an adoption that may have made a release. */
interface Release extends Settling<Endpoint> {
  readonly connection: Connection;
  /** The outputs of the last run; `undefined` for an adoption. */
  readonly before: Properties | undefined;
  readonly inputs: Properties;
  /** Returns the fields of an endpoint as state keeps them. */
  readonly fieldsOf: (endpoint: Endpoint) => Properties;
}

/**
 * Tests the release in service, if the program has a `rollOut` and the release has not passed.
 * @returns `false` if it was not tested because the endpoint has no workers
 * @throws ROLL_OUT if the release failed or could not be judged
 */
export async function testRelease(release: Release): Promise<boolean> {
  const { id, inputs, before, outs, outcome, connection } = release;
  const rollOut = rollOutOf(inputs);
  if (!rollOut) return true;
  const isRelease = outcome.changed.some(isReleaseField);
  const name = String(outs.name ?? id);
  if (before && !isRelease && !isNotPassed(before, inputs)) {
    const others = outcome.record ? notAsDeclared(inputs, shownRelease(outcome.record)) : [];
    if (others.length > 0) log(name, untestedRelease(others));
    return true;
  }
  if (outs.workersMax === 0) {
    log(name, "its release is tested once workersMax is raised, because with workersMax 0 it has no workers");
    return false;
  }
  const refuse = (error: unknown) => notJudged(release, messageOf(error));
  const saved = outcome.record ?? (await current(release).catch(refuse));
  if (!isRelease) {
    await refuseChangedByOthers(release, notAsDeclared(inputs, shownRelease(saved)));
    log(name, "its release is already in service, but has not passed: it is tested now");
  }
  const judged = { client: connection.client, id, name };
  const reason = await judge(judged, rollOut, inputs).catch(refuse);
  const now = await current(release).catch(() => undefined);
  if (now) await refuseChangedByOthers(release, changedIn(FIELDS, { ...saved }, shownRelease(now)));
  if (reason === undefined) {
    log(name, "its new release has passed");
    return true;
  }
  throw await afterFailure(release, rollOut, reason);
}

/** Returns the error of a release that failed, after the previous release was restored. */
async function afterFailure(release: Release, rollOut: RollOut, reason: string): Promise<Error> {
  const { id, outs, outcome, before, inputs } = release;
  const which = `endpoint ${id} ("${outs.name}")`;
  // After a restore, the workers of the failed release and their logs are gone.
  const failed = `the new release of ${which} failed: ${reason}${await evidenceOf(release.connection.client, id)}`;
  const isAdoption = before === undefined;
  if (!rollOut.restores && !isAdoption)
    return stays(release, `${failed}\nIt is still in service, because rollOut.onFailure is keep`, outs);
  log(String(outs.name ?? id), `its new release failed: ${reason}`);
  const undo = outcome.undo?.();
  const undone = await undo?.catch(messageOf);
  const isLeft = typeof undone === "object" && notAsDeclared(inputs, shownRelease(undone.record)).length === 0;
  if (undone === undefined || (isLeft && !isAdoption)) {
    return new CodedError(
      "ROLL_OUT",
      `${failed}\nThe endpoint still has this release, because this run does not know the previous settings.${notAdopted(before)} Change the program, or ` +
        `roll it back: npx pulumi-serverless-gpu history ${id} shows the releases, and npx pulumi-serverless-gpu rollback ` +
        `${id} --to <version> --yes returns to one`,
    );
  }
  if (typeof undone === "string") {
    const text = `${failed}\nIt may still be in service, because restoring the previous settings failed: ${undone}. Run pulumi up again`;
    return isAdoption ? new CodedError("ROLL_OUT", text) : stays(release, text, unsettled(before, outs));
  }
  return restored(release, failed, undone);
}

const notAdopted = (before: Properties | undefined) => (before ? "" : " The endpoint was not adopted");

/** Returns the error of a failed release whose endpoint has its previous settings again. */
function restored(release: Release, failed: string, { record, left }: Undone<Endpoint>): Error {
  const { outs, before, inputs } = release;
  const exception =
    left.length > 0
      ? `, except for ${left.join(", ")}, which someone else has changed or whose previous value is not known`
      : "";
  const text =
    `${failed}\nThe previous settings were saved again${exception}, and RunPod replaces the workers.${notAdopted(before)} The next pulumi up ` +
    "tries the same release again, unless you change the program";
  return !before || (left.length === 0 && describes(before, inputs, record))
    ? new CodedError("ROLL_OUT", text)
    : stays(release, text, { ...outs, ...release.fieldsOf(record) });
}

/**
 * Returns `false` if an earlier run recorded a release that has not passed, and the endpoint has
 * another one now.
 */
function describes(before: Properties, { rollOut }: Properties, record: Endpoint): boolean {
  const managed = managedFields(FIELDS, before) ?? [];
  const declared = pick(before, (name) => managed.includes(name));
  return !isNotPassed(before, { ...declared, rollOut }) || notAsDeclared(before, shownRelease(record)).length === 0;
}

/** Returns an error that makes the engine record what is in service. */
function stays({ id, inputs }: Release, text: string, state: Properties): Error {
  return initFailure(new CodedError("ROLL_OUT", text), id, { ...state, __provider: inputs.__provider });
}

/**
 * Returns outputs that leave this machine's note of the write open, so that the next run can still
 * restore the previous release.
 */
function unsettled(before: Properties, outs: Properties): Properties {
  return { ...outs, ...stampOutput(ownerOf(outs), lastWrite(before)) };
}

/** Ends a release about which nothing is known. An adoption is undone. */
async function notJudged(release: Release, problem: string): Promise<never> {
  const { id, outs, outcome, before } = release;
  const text = `the new release of endpoint ${id} ("${outs.name}") could not be tested: ${problem}`;
  if (before)
    throw stays(release, `${text}. It is in service. Run pulumi up again to test it`, unsettled(before, outs));
  const left = await outcome.undo?.().then(
    (undone) => (undone.left.length > 0 ? ` It still has ${undone.left.join(", ")} of this program.` : ""),
    (error: unknown) => ` Restoring its settings failed: ${messageOf(error)}.`,
  );
  throw new CodedError("ROLL_OUT", `${text}.${left ?? ""} The endpoint was not adopted`);
}

/** Reads the endpoint. */
function current({ connection, id, inputs, outs }: Release): Promise<Endpoint> {
  return connection.client.endpoints.get(id, { known: { ...outs, ...inputs } });
}

function shownRelease({ unshown = [], ...endpoint }: Endpoint): Properties {
  return pick({ ...endpoint }, (name) => isReleaseField(name) && !unshown.includes(name));
}

/** Returns the fields in which the endpoint differs from the program's release. */
function notAsDeclared(inputs: Properties, shown: Properties): string[] {
  const declared = flat(pick(inputs, (name) => name in shown && inputs[name] !== undefined));
  return [...new Set(Object.keys(differing(FIELDS, declared, shown)).map(fieldOf))];
}

const untestedRelease = (fields: readonly string[]) =>
  `warning: someone else has changed ${fields.join(", ")} since the last run or refresh, and that release was not tested. ` +
  "Run pulumi up --refresh to save the program's release and test it";

/**
 * Throws an error if someone else has changed the release since it was saved, because a test then
 * says nothing about it.
 * @param fields the changed fields
 */
async function refuseChangedByOthers(release: Release, fields: readonly string[]): Promise<void> {
  const { id, outs, outcome, before } = release;
  if (fields.length === 0) return;
  const text =
    `the new release of endpoint ${id} ("${outs.name}") was neither accepted nor rolled back: someone else changed ` +
    `${fields.join(", ")} after it was saved. Their change was kept. Run pulumi up --refresh to save the ` +
    "program's release and test it";
  if (before) throw stays(release, text, outs);
  await outcome.undo?.().catch(() => undefined);
  throw new CodedError("ROLL_OUT", `${text}. The endpoint was not adopted`);
}
