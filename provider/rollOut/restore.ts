import type { Endpoint, EndpointChanges } from "../../sdk/endpoints/record";
import type { Connection } from "../connection/connection";
import { noteVariables } from "../container/variables";
import { log } from "../log";
import { forgetWrite } from "../machine/unfinishedWrite";
import type { RollOutRecord } from "./decide";
import { untilOut } from "./judge";
import type { RecordOfMachine } from "./record";
import { differing, namesOf, releaseOf, serves } from "./settings";
import { isOut, workersInWords } from "./verdicts";

/** The result of a restore. */
export interface Restored {
  /** The endpoint as it is now; `undefined` if it could not be read or saved. */
  readonly endpoint: Endpoint | undefined;
  /** What is left to do; `undefined` if the former settings are out. */
  readonly problem: string | undefined;
  /** `true` if somebody else has changed the settings: they are left as they are. */
  readonly isForeign?: true;
}

/**
 * Saves the former settings again, and waits until no worker runs the refused release. It can be
 * repeated after a kill. Never throws: the caller must record what serves.
 */
export async function restore(
  connection: Connection,
  machine: RecordOfMachine,
  {
    id,
    name,
    record,
    timeoutMs,
  }: { readonly id: string; readonly name: string; readonly record: RollOutRecord; readonly timeoutMs: number },
): Promise<Restored> {
  let endpoint: Endpoint | undefined;
  machine.write({ ...record, phase: "restoring" });
  try {
    const now = await connection.client.endpoints.get(id, { known: record.release });
    if (!serves(record.release, { ...now }) && !serves(record.former, { ...now })) {
      machine.remove();
      return {
        endpoint: now,
        problem: `someone else has changed ${namesOf(releaseOf(record.release))} meanwhile`,
        isForeign: true,
      };
    }
    endpoint = await saveFormer(connection, now, record);
  } catch (error) {
    return { endpoint, problem: messageOf(error) };
  }
  try {
    const seen = await untilOut({ client: connection.client, id, name }, false, timeoutMs, "the previous release");
    if (!isOut(seen, false)) return { endpoint, problem: `${workersInWords(seen)} after ${timeoutMs / 1000} s` };
  } catch (error) {
    return { endpoint, problem: messageOf(error) };
  }
  machine.write({ ...record, phase: "refused" });
  return { endpoint, problem: undefined };
}

/** Saves those of the former settings that the endpoint does not have. */
export async function saveFormer(
  { client: { endpoints }, account: { service } }: Pick<Connection, "client" | "account">,
  now: Endpoint,
  { release, former }: Pick<RollOutRecord, "release" | "former">,
): Promise<Endpoint> {
  const { id, name } = now;
  const changes = differing(former, { ...now });
  if (Object.keys(changes).length === 0) return now;
  log(name, `saves its previous settings again: ${namesOf(changes)}`);
  const endpoint = await endpoints.update(id, changes as EndpointChanges, { known: release });
  // The variables of the refused release are gone, and state is right as it is.
  noteVariables({ service, noun: "endpoint", id }, []);
  forgetWrite({ service, noun: "endpoint", id });
  return endpoint;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
