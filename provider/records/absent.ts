import { NotFoundError } from "../../sdk/errors";
import { noSuchRecord } from "../../sdk/records/reads";
import { refuseOtherAccount } from "../connection/account";
import type { Connection } from "../connection/connection";
import type { Properties } from "../properties";

/**
 * Returns the result of `read` for a record that was not found. A result without an id tells the
 * engine that the resource is gone. @throws NotFoundError if the record must exist @throws
 * AccountChangedError if the record was last seen in another account
 */
export function readAbsent(
  noun: string,
  id: string,
  outputs: Properties,
  connection: Connection,
): Record<string, never> {
  if (outputs.__mustExist) throw noSuchRecord(noun, id);
  refuseOtherAccount(noun, outputs, connection, id);
  return {};
}

/**
 * Returns a clearer error if an update failed because the record is gone. Returns any other error
 * as it is.
 */
export async function explainAbsence(
  error: unknown,
  noun: string,
  id: string,
  outputs: Properties,
  connection: Connection,
  records: { readonly find: (id: string) => Promise<object | undefined> },
): Promise<unknown> {
  // Perhaps the service did not find something that the record uses, such as a template.
  if (!(error instanceof NotFoundError) || (await records.find(id))) return error;
  refuseOtherAccount(noun, outputs, connection, id);
  return deletedElsewhere(noun, id);
}

/** Returns the error for a record that is in state but was deleted elsewhere. */
export function deletedElsewhere(noun: string, id: string): NotFoundError {
  return new NotFoundError(
    `${noun} ${id} does not exist in this account any more: it was deleted elsewhere. Run pulumi up --refresh: it ` +
      `removes the ${noun} from state and creates a new one. If the program still sets its adoptId, remove that first`,
  );
}
