import type { Endpoint } from "../../sdk/endpoints/record";
import { isRecordedElsewhere } from "../connection/account";
import type { Connection } from "../connection/connection";
import type { Properties } from "../properties";
import { explainAbsence } from "../resource/absent";
import { oneAtATime } from "../resource/oneAtATime";
import { refuseRename } from "../resource/rename";
import { mustSave } from "./diff";
import { managedFields } from "./outputs";

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
    if (!mustSave(outputs, inputs)) {
      return isRecordedElsewhere(outputs, connection, id) ? await endpoints.get(id, { known: outputs }) : undefined;
    }
    // Not at the same time as a create with the same name, so that each sees the other's endpoint.
    const options = { ...refuseRename("endpoint", id, fields.name), known: outputs };
    return await oneAtATime(String(inputs.name), () => endpoints.update(id, fields, options));
  } catch (error) {
    throw await explainAbsence(error, "endpoint", id, outputs, connection, endpoints);
  }
}
