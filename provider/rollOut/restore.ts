import type { Endpoint, EndpointChanges } from "../../sdk/endpoints/record";
import type { Connection } from "../connection/connection";
import { messageOf } from "../engineErrors";
import { log } from "../log";
import { forgetWrite } from "../machine/unfinishedWrite";
import type { RollOutRecord } from "./decide";
import { untilOut } from "./judge";
import { forgetRollOut, writeRollOut } from "./record";
import type { RollOut } from "./rollOutInputs";
import { differing, namesOf, nested, releaseOf, serves } from "./settings";
import { isOut, workersInWords } from "./verdicts";

/** The result of a restore. */
export interface Restored {
  /** The endpoint as it is now, or `undefined` if it could not be read or saved. */
  readonly endpoint: Endpoint | undefined;
  /** What remains to be done, or `undefined` if the previous settings are rolled out. */
  readonly problem: string | undefined;
  /** `true` if someone else has changed the settings, in which case they are left unchanged. */
  readonly isForeign?: true;
}

/** The endpoint whose release is restored. */
interface Restoring {
  readonly connection: Connection;
  readonly id: string;
  readonly name: string;
  readonly rollOut: RollOut;
}

/**
 * Saves the previous settings again, and waits until no worker runs the refused release. Can be
 * repeated if the run is killed. Never throws an error, because the caller must record what is in
 * effect.
 */
export async function restore(restoring: Restoring, record: RollOutRecord): Promise<Restored> {
  const { client } = restoring.connection;
  const { id, name, rollOut } = restoring;
  const { release, former } = record;
  let endpoint: Endpoint | undefined;
  writeRollOut(restoring, { ...record, phase: "restoring" });
  try {
    const now = await client.endpoints.get(id, { known: nested(release) });
    if (!serves(release, { ...now }) && !serves(former, { ...now })) {
      forgetRollOut(restoring);
      const problem = `someone else has changed ${namesOf(differing(releaseOf(release), { ...now }))} in the meantime`;
      return { endpoint: now, problem, isForeign: true };
    }
    endpoint = await saveFormer(restoring.connection, now, record);
    const { timeoutMs } = rollOut;
    const seen = await untilOut({ client, id, name }, false, timeoutMs, "the previous release");
    if (!isOut(seen, false)) return { endpoint, problem: `${workersInWords(seen)} after ${timeoutMs / 1000} s` };
  } catch (error) {
    return { endpoint, problem: messageOf(error) };
  }
  writeRollOut(restoring, { ...record, phase: "refused" });
  return { endpoint, problem: undefined };
}

/** Saves those of the previous settings that the endpoint currently does not have. */
export async function saveFormer(
  { client: { endpoints }, account: { service } }: Pick<Connection, "client" | "account">,
  now: Endpoint,
  { release, former }: Pick<RollOutRecord, "release" | "former">,
): Promise<Endpoint> {
  const { id, name } = now;
  const changes = differing(former, { ...now });
  if (Object.keys(changes).length === 0) return now;
  log(name, `restores its previous settings: ${namesOf(changes)}`);
  const endpoint = await endpoints.update(id, nested(changes) as EndpointChanges, { known: nested(release) });
  // The refused release and its variables are gone, so state describes the endpoint correctly
  // again.
  forgetWrite({ service, noun: "endpoint", id });
  return endpoint;
}
