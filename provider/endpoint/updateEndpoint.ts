import type { Endpoint } from "../../sdk/endpoints/record";
import { existing, SHARED_LIST_MAX_AGE_MS } from "../../sdk/records/collection";
import { isRecordedElsewhere } from "../connection/account";
import type { Connection } from "../connection/connection";
import type { Properties } from "../properties";
import { explainAbsence } from "../resource/absent";
import { oneAtATime } from "../resource/oneAtATime";
import { refuseRename } from "../resource/rename";
import { mayNeedRepair, zeroRepair } from "./atZero";
import { mustSave } from "./diff";
import { managedFields } from "./outputs";
import { willRecycle } from "./rollOut";

/**
 * Saves the changes. Without changes it reads the endpoint if the account or the queue URL differs from the record,
 * because the record may change only after the endpoint was seen there.
 * @returns the endpoint; `undefined` if it was not read
 */
export async function bringUpToDate(
  connection: Connection,
  id: string,
  outputs: Properties,
  inputs: Properties,
): Promise<Endpoint | undefined> {
  const { endpoints } = connection.client;
  const fields = managedFields(inputs);
  try {
    const isSaved = mustSave(outputs, inputs);
    // A recycle that was killed at zero goes on from there.
    const isChecked = !willRecycle(outputs, inputs) && mayNeedRepair(id, outputs, inputs, isSaved);
    const workers = isChecked ? zeroRepair(id, outputs, inputs, await readNow(connection, id)) : {};
    if (!isSaved && Object.keys(workers).length === 0) {
      return isRecordedElsewhere(outputs, connection, id) ? await endpoints.get(id, { known: outputs }) : undefined;
    }
    // Not at the same time as a create with the same name, so that each sees the other's endpoint.
    const options = { ...refuseRename("endpoint", id, fields.name), known: outputs };
    return await oneAtATime(String(inputs.name), () => endpoints.update(id, { ...fields, ...workers }, options));
  } catch (error) {
    throw await explainAbsence(error, "endpoint", id, outputs, connection, endpoints);
  }
}

/** Returns the endpoint as a list shows it that the update can share. */
async function readNow({ client }: Connection, id: string): Promise<Endpoint> {
  return existing(await client.endpoints.find(id, { maxAgeMs: SHARED_LIST_MAX_AGE_MS }), { noun: "endpoint" }, id);
}
