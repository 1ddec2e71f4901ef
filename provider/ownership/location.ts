import { CodedError, EmptyListError } from "../../sdk/errors/errors";
import type { FindOptions } from "../../sdk/records/collection";
import {
  isOtherAccount,
  isOtherProvider,
  isRedirected,
  noteProven,
  recordedService,
  refuseOtherAccount,
} from "../connection/account";
import { connect, currentPlace, readConfig } from "../connection/connection";
import type { ProviderClient } from "../connection/providerClient";
import { cancelled } from "../engine/cancellation";
import { log } from "../engine/log";
import type { Properties } from "../engine/properties";

/** The maximum age of the list that the resources of one run share, in milliseconds. */
export const LIST_MAX_AGE_MS = 60_000;

/**
 * Returns the client's functions for one kind of record. Only `find` is needed to determine where a
 * record is.
 */
type Finder = (client: ProviderClient) => {
  readonly find: (id: string, options: FindOptions) => Promise<object | undefined>;
};

/**
 * Returns where a resource's record is, as seen by the provider that the program assigns to the
 * resource. `here` means that the record is where state says. `redirected` means that the same
 * record is reached in another way, which an update stores in state. `moved` means that the record
 * must be replaced in another account.
 *
 * No call is made if the key and the service are the same as when the record was last seen.
 * Otherwise, this function looks for the record. If the record is found, the account is the same,
 * even if the key or the provider is different.
 * @throws ACCOUNT_CHANGED if the record does not exist there and the provider is the same
 * @throws MOVE_REFUSED if the new account cannot be read
 */
export async function locate(
  noun: string,
  id: string,
  outputs: Properties,
  recordsOf: Finder,
): Promise<"here" | "redirected" | "moved"> {
  const place = currentPlace();
  if (!place) return locateWithoutKey(noun, id, outputs);
  const found = () => (isRedirected(outputs, place, id) ? "redirected" : "here");
  if (!isOtherAccount(outputs, place.account, id)) {
    if (recordedService(outputs) !== undefined) noteProven(place.account);
    return found();
  }
  const connection = connect();
  const isMove = isOtherProvider(outputs, place.account.provider);
  const finding = recordsOf(connection.client).find(id, { maxAgeMs: LIST_MAX_AGE_MS, signal: cancelled });
  const record = await finding.catch((error: unknown) => {
    // Another account may well have no records of this kind.
    if (error instanceof EmptyListError) return undefined;
    if (!isMove) throw error;
    return refuseMove(noun, id, outputs, error instanceof Error ? error.message : String(error), error);
  });
  if (record) {
    noteProven(connection.account);
    return found();
  }
  if (isMove) return "moved";
  refuseOtherAccount(noun, outputs, connection, id);
  return found();
}

/**
 * Previews don't need a key. Without a key, a preview cannot tell whether a different provider
 * means a different account.
 */
function locateWithoutKey(noun: string, id: string, outputs: Properties): "here" | "redirected" {
  if (!isOtherProvider(outputs, readConfig("explicit") ?? "")) return "here";
  log(
    String(outputs.name ?? id),
    `warning: ${noun} ${id} now has another provider. This preview has no key for it and cannot tell whether that is ` +
      `another account. If it is, up deletes the ${noun} in the previous account and creates another in the new one`,
  );
  return "redirected";
}

/**
 * Throws the error that refuses to move a record to another account.
 * @throws MOVE_REFUSED always
 */
export function refuseMove(noun: string, id: string, outputs: Properties, reason: string, cause?: unknown): never {
  throw new CodedError(
    "MOVE_REFUSED",
    `${noun} ${id} ("${outputs.name}") cannot move to this account: ${reason}. Nothing was changed: it stays in its ` +
      "previous account. Fix this, or restore the resource's previous provider",
    { cause },
  );
}
