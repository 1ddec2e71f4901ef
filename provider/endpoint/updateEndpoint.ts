import type { UpdateOptions } from "../../sdk/endpoints/endpoints";
import type { Endpoint, EndpointInput } from "../../sdk/endpoints/record";
import { NameTakenError } from "../../sdk/errors";
import { isRecordedElsewhere } from "../connection/account";
import type { Connection } from "../connection/connection";
import type { Properties } from "../properties";
import { explainAbsence } from "../resource/absent";
import { oneAtATime } from "../resource/oneAtATime";
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
    const options = { ...refuseRename(id, fields), known: outputs };
    return await oneAtATime(String(inputs.name), () => endpoints.update(id, fields, options));
  } catch (error) {
    throw await explainAbsence(error, "endpoint", id, outputs, connection, endpoints);
  }
}

/** Refuses a change to a name that another endpoint has, as a create does. */
export function refuseRename(id: string, { name }: Partial<EndpointInput>): UpdateOptions {
  return {
    onNameTaken(others) {
      const ids = others.map((each) => each.id);
      throw new NameTakenError(
        `endpoint ${id} cannot be renamed to "${name}": ${ids.join(", ")} has that name, and two endpoints with one ` +
          "name are easily confused. Nothing was changed. Choose another name. If this run renames or deletes the other " +
          "endpoint, run pulumi up again",
        ids,
      );
    },
  };
}
