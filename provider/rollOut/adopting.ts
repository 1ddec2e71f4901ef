import { InvalidInputError } from "../../sdk/errors";
import type { Connection } from "../connection/connection";
import { log } from "../log";
import { unseal } from "../machine/seal";
import type { Properties } from "../properties";
import { type LeftAdoption, leftAdoptions, recordOfMachine } from "./record";
import { saveFormer } from "./restore";
import { namesOf, releaseOf, sameSettings, serves } from "./settings";

/*
 * An endpoint is adopted once its new release has passed. Until then it is somebody's: whatever
 * ends the adoption leaves it as it was, and never deletes it.
 */

/** The output with the settings before a release that serves and that no run has judged. */
export const UNJUDGED = "__unjudged";

/** The output of an endpoint whose adoption made a release that has not passed. */
export const ADOPTING = "__adopting";

/** Returns `true` for the outputs of an endpoint whose adoption has not ended. */
export function isAdopting({ [ADOPTING]: adopting }: Properties): boolean {
  return adopting === true;
}

/**
 * Ends an adoption when its resource is removed: puts back what the endpoint had, and leaves it.
 * @param onAbsent called if the endpoint is gone
 * @throws InvalidInputError if another key has recorded the former settings
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
      `endpoint ${id} ("${name}") was to be adopted, and has a release that no run has judged. Its former settings were ` +
      "recorded with another API key, so they cannot be read. Use that key, or remove the resource with pulumi state delete: " +
      "the endpoint then stays as it is";
    throw new InvalidInputError("the deletion", [{ property: "adoptId", message }]);
  }
  const now = await client.endpoints.find(id, { known: outputs });
  if (!now) return onAbsent();
  const release = former && sameSettings(former, outputs);
  if (former && release && serves(release, { ...now })) await saveFormer(connection, now, { release, former });
  else if (former && !serves(former, { ...now }))
    log(name, `warning: somebody else has changed ${namesOf(releaseOf(former))}: that was left as it is`);
  recordOfMachine(id, account).remove();
  log(name, `endpoint ${id} is not deleted, because its new release has never passed, and so it was not adopted`);
}

/**
 * Names the endpoints that a killed run was about to adopt, and whose release no run has judged.
 * State has none of them, so no resource may be left that would judge them.
 * @param isDeclared `true` for the id of an endpoint that the program has
 */
export function leftAdoptionWarnings(account: Connection["account"], isDeclared: (id: string) => boolean): string[] {
  return leftAdoptions(account).flatMap(({ id, name, record }) =>
    isDeclared(id)
      ? []
      : [
          `a run on this machine was killed while it adopted endpoint ${id} ("${name}"): it may still serve with ` +
            `${namesOf(releaseOf(record.release))} of that program, which no run on this machine has judged. If a stack has it or ` +
            "still adopts it, run pulumi up there. Otherwise, and if no run in another container adopts it now, put back what " +
            `it had: serverless-gpu rollback ${id} --left --yes`,
        ],
  );
}

/** Returns the adoption of an endpoint that a killed run on this machine has left. */
export function leftAdoption(account: Connection["account"], id: string): LeftAdoption | undefined {
  return leftAdoptions(account).find((each) => each.id === id);
}

/**
 * Puts back what an endpoint had before an adoption that a killed run has left.
 * @returns `changed` if somebody has changed it since: then it stays as it is
 */
export async function takeBackAdoption(
  connection: Pick<Connection, "client" | "account">,
  { id, record }: LeftAdoption,
): Promise<"back" | "changed" | "gone"> {
  const now = await connection.client.endpoints.find(id, { known: record.release });
  const isOurs = now !== undefined && serves(record.release, { ...now });
  if (isOurs) await saveFormer(connection, now, record);
  recordOfMachine(id, connection.account).remove();
  if (!now) return "gone";
  return isOurs || serves(record.former, { ...now }) ? "back" : "changed";
}
