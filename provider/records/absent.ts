import { EmptyListError, NotFoundError } from "../../sdk/errors/errors";
import { noSuchRecord } from "../../sdk/records/reads";
import { refuseOtherAccount } from "../connection/account";
import type { Connection } from "../connection/connection";
import { log } from "../engine/log";
import type { Properties } from "../engine/properties";

/**
 * Returns the result of `read` for a record that was not found. A result without an id tells the
 * engine that the resource is gone. @throws NotFoundError if the record must exist @throws
 * ACCOUNT_CHANGED if the record was last seen in another account
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
 * Keeps a record in state and logs a warning if the lists that don't show it are empty, because a
 * failing service may be the cause.
 * @throws EmptyListError if the record must exist
 */
export function keepUnproven(noun: string, id: string, outputs: Properties, error: EmptyListError): void {
  if (outputs.__mustExist) throw error;
  log(String(outputs.name ?? id), `warning: ${error.message}. It stays in state. ${dropAdvice(noun)}`);
}

/**
 * Adds advice to an `EmptyListError` on what to do if the record really is gone. Returns any other
 * error unchanged.
 */
export function withDropAdvice(error: unknown, noun: string): unknown {
  return error instanceof EmptyListError
    ? error.withOutcome(`the ${noun} stays in state`, `. ${dropAdvice(noun)}`)
    : error;
}

/** Dropping a record from state doesn't delete anything at RunPod. */
function dropAdvice(noun: string): string {
  return (
    `If the ${noun} is gone, drop it from state: pulumi stack --show-urns prints its URN, and pulumi state delete 'URN' drops ` +
    "it. The next pulumi up creates a new one"
  );
}

/**
 * Returns a clearer error if an update failed because the record is gone. Returns any other error
 * unchanged.
 */
export async function explainAbsence(
  error: unknown,
  noun: string,
  id: string,
  outputs: Properties,
  connection: Connection,
  records: { readonly find: (id: string) => Promise<object | undefined> },
  wasDeleting: boolean,
): Promise<unknown> {
  if (error instanceof EmptyListError) {
    refuseOtherAccount(noun, outputs, connection, id);
    return withDropAdvice(error, noun);
  }
  // The missing object may be something that the record uses, such as a template.
  if (!(error instanceof NotFoundError) || (await records.find(id))) return error;
  refuseOtherAccount(noun, outputs, connection, id);
  return deletedElsewhere(noun, id, wasDeleting ? "an earlier run on this machine deleted it" : undefined);
}

/** Returns the error for a record that is in state but no longer exists. */
export function deletedElsewhere(noun: string, id: string, how = "it was deleted elsewhere"): NotFoundError {
  return new NotFoundError(
    `${noun} ${id} does not exist in this account any more: ${how}. Run pulumi up --refresh: it ` +
      `removes the ${noun} from state and creates a new one. If the program still sets its adoptId, remove that first`,
  );
}
