import type { UpdateOptions } from "../../sdk/endpoints/endpoints";
import type { EndpointInput } from "../../sdk/endpoints/input";
import type { Endpoint } from "../../sdk/endpoints/record";
import { NameTakenError, NotFoundError } from "../../sdk/errors";
import { isRecordedElsewhere, refuseOtherAccount } from "../connection/account";
import type { Connection } from "../connection/connection";
import type { Properties } from "../properties";
import { mustSave } from "./diff";
import { oneAtATime } from "./oneAtATime";
import { managedFields } from "./outputs";

/**
 * Saves what changed. What is recorded of the place changes only once the endpoint was seen there: without a change the
 * endpoint is looked for if the place is another one, and not at all otherwise.
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
      return isRecordedElsewhere(outputs, connection, id) ? await endpoints.get(id) : undefined;
    }
    // After a create of the same name, so that it is seen here; and the other way round.
    return await oneAtATime(String(inputs.name), () => endpoints.update(id, fields, refuseRename(id, fields)));
  } catch (error) {
    // Not found may also be what the fields name.
    if (!(error instanceof NotFoundError) || (await endpoints.find(id))) throw error;
    refuseOtherAccount(outputs, connection, id);
    throw endpointGone(id);
  }
}

/** For an endpoint that is in state and was deleted elsewhere. */
export function endpointGone(id: string): NotFoundError {
  return new NotFoundError(
    `endpoint ${id} does not exist in this account any more: it was deleted elsewhere. Run pulumi up --refresh: it takes ` +
      "the endpoint out of state and creates a new one. If the program still sets adoptId to it, take that out first",
  );
}

/** Refuses a change of the name to one that another endpoint has, as a create does. */
export function refuseRename(id: string, { name }: Partial<EndpointInput>): UpdateOptions {
  return {
    onNameTaken(others) {
      const ids = others.map((each) => each.id);
      throw new NameTakenError(
        `endpoint ${id} cannot be renamed to "${name}": ${ids.join(", ")} has that name, and the two could be taken for ` +
          "each other. Nothing was changed. Choose another name; if the other one is renamed or deleted in this same " +
          "run, run pulumi up again",
        ids,
      );
    },
  };
}
