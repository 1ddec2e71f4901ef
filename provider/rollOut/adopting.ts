import type { Endpoint } from "../../sdk/endpoints/record";
import { InvalidInputError } from "../../sdk/errors";
import type { Connection } from "../connection/connection";
import { messageOf } from "../engineErrors";
import { log } from "../log";
import { unseal } from "../machine/seal";
import type { Properties } from "../properties";
import type { RollOutRecord } from "./decide";
import { forgetRollOut, type LeftAdoption, leftAdoptions, writeRollOut } from "./record";
import { saveFormer } from "./restore";
import {
  differing,
  heldOf,
  mergedSettings,
  namesOf,
  nested,
  releaseOf,
  sameSettings,
  serves,
  without,
} from "./settings";

/*
 * An endpoint is adopted once its new release has passed. Until then it is someone's: whatever
 * ends the adoption leaves it as it was, and never deletes it.
 */

/**
 * The output with the settings from before a release that is in effect but that no run has judged.
 */
export const UNJUDGED = "__unjudged";

/** The output that marks an endpoint that was adopted with a release that has not passed yet. */
export const ADOPTING = "__adopting";

/** Returns `true` if the outputs belong to an endpoint whose adoption is not complete. */
export function isAdopting({ [ADOPTING]: adopting }: Properties): boolean {
  return adopting === true;
}

/**
 * Ends an adoption when its resource is removed. Restores the endpoint's previous settings and
 * keeps the endpoint.
 * @param onAbsent called if the endpoint is gone
 * @throws InvalidInputError if the previous settings were recorded with another key
 */
export async function leaveUnadopted(
  connection: Connection,
  id: string,
  outputs: Properties,
  onAbsent: () => void,
): Promise<void> {
  const { account, client } = connection;
  const name = String(outputs.name ?? id);
  const former = unseal(account.apiKey, outputs[UNJUDGED]);
  if (outputs[UNJUDGED] !== undefined && !former) {
    const message =
      `the adoption of endpoint ${id} ("${name}") is not complete. Its previous ` +
      "settings were recorded with another API key, so they cannot be read. Use that key, or remove the resource with " +
      "pulumi state delete: the endpoint then stays as it is";
    throw new InvalidInputError("the deletion", [{ property: "adoptId", message }]);
  }
  const now = await client.endpoints.find(id, { known: outputs });
  if (!now) return onAbsent();
  const record = former && adoptionOf(name, sameSettings(former, outputs), former);
  if (record && !serves(record.release, { ...now }) && !serves(former, { ...now })) {
    const left = await leaveChanged(connection, now, record);
    const changed = namesOf(differing(releaseOf(record.release), { ...now }));
    log(name, `warning: someone else has changed ${changed}. Their change was kept${left}`);
  } else {
    if (record) await saveFormer(connection, now, putBackOf(record, now));
    forgetRollOut({ id, connection });
  }
  log(name, `endpoint ${id} is not deleted, because its adoption was not completed: its new release has not passed`);
}

/** Returns the machine record for an adoption that is no longer recorded in state. */
export function adoptionOf(adoption: string, release: Properties, former: Properties): RollOutRecord {
  return { phase: "judging", inputs: "", release, former, reason: "", after: "", adoption };
}

/**
 * Returns the settings that an endpoint still has from an adoption, and their previous values.
 * Settings that someone else has changed since are not included.
 */
export function putBackOf(
  { release, former }: Pick<RollOutRecord, "release" | "former">,
  now: object,
): Pick<RollOutRecord, "release" | "former"> {
  const held = heldOf(release, { ...now });
  return { release: held, former: sameSettings(held, former) };
}

/**
 * Ends an adoption whose release someone else has changed. Restores the settings that do not make a
 * release, such as the worker counts. The rest of the program's release stays in effect, together
 * with the other person's changes, and this machine keeps a record of it.
 * @returns the end of a sentence that says what remains, with the command that restores it
 */
export async function leaveChanged(connection: Connection, now: Endpoint, record: RollOutRecord): Promise<string> {
  const { release, former } = putBackOf(record, now);
  const place = { id: now.id, connection };
  writeRollOut(place, { ...record, phase: "judging", release, former });
  const problem = await saveFormer(connection, now, { release, former: without(former, releaseOf(release)) }).then(
    () => "",
    (error: unknown) => ` (${messageOf(error)})`,
  );
  const left = problem === "" ? releaseOf(release) : release;
  if (Object.keys(left).length === 0) {
    forgetRollOut(place);
    return "";
  }
  writeRollOut(place, { ...record, phase: "judging", release: left, former: sameSettings(left, former) });
  return (
    `. The endpoint still has ${namesOf(left)} of this program${problem}. To restore its previous values, run ` +
    `npx pulumi-serverless-gpu rollback ${now.id} --left --yes`
  );
}

/**
 * Returns a warning for each endpoint that a killed run was about to adopt and whose settings that
 * run may have changed. These endpoints are in no state, so there may be no resource left that
 * would judge their releases.
 * @param isDeclared returns `true` for the id of an endpoint that the program declares
 */
export function leftAdoptionWarnings(account: Connection["account"], isDeclared: (id: string) => boolean): string[] {
  return leftAdoptions(account).flatMap(({ id, name, record }) =>
    isDeclared(id)
      ? []
      : [
          `a run on this machine did not finish the adoption of endpoint ${id} ("${name}"). The endpoint may still have ` +
            `${namesOf(record.release)} of that program. If a stack manages or adopts it, run pulumi up there. Otherwise, make ` +
            `sure that no run is adopting it now, and restore it: npx pulumi-serverless-gpu rollback ${id} --left --yes`,
        ],
  );
}

/** Returns the unfinished adoption of an endpoint that a killed run on this machine left behind. */
export function leftAdoption(account: Connection["account"], id: string): LeftAdoption | undefined {
  return leftAdoptions(account).find((each) => each.id === id);
}

/**
 * Restores an endpoint's settings from before an unfinished adoption, except for settings that
 * someone else has changed since.
 */
export async function takeBackAdoption(
  connection: Pick<Connection, "client" | "account">,
  { id, record }: LeftAdoption,
): Promise<TakenBack> {
  const now = await connection.client.endpoints.find(id, { known: nested(record.release) });
  if (now) await saveFormer(connection, now, putBackOf(record, now));
  forgetRollOut({ id, connection });
  if (!now) return { isGone: true, changed: "" };
  const { former } = putBackOf(record, now);
  const foreign = differing(record.former, mergedSettings({ ...now }, former));
  return { isGone: false, changed: namesOf(foreign) };
}

/** The result of reverting an adoption. */
interface TakenBack {
  readonly isGone: boolean;
  /** The names of the settings that someone else has changed since. They are left unchanged. */
  readonly changed: string;
}
