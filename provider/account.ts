import { createHash } from "node:crypto";
import { AccountChangedError } from "../sdk/errors";
import type { Properties } from "./inputs";

/** Makes the record of the account that an endpoint belongs to: the service's address and a fingerprint of the key. */
export type AccountRecord = (endpointId: string) => string;

const FINGERPRINT_DIGITS = 12;

/** The fingerprint is salted with the endpoint's id: it tells nothing about the key, nor which endpoints share one. */
export function accountRecord(graphqlUrl: string, apiKey: string): AccountRecord {
  return (endpointId) => {
    const digest = createHash("sha256")
      .update(JSON.stringify([endpointId, apiKey]))
      .digest("hex");
    return `${graphqlUrl} ${digest.slice(0, FINGERPRINT_DIGITS)}`;
  };
}

/**
 * Absent means gone only in the account, at the address, where the endpoint was last seen; anywhere else it may well
 * exist, and cost. Throws `AccountChangedError` when either differs, unless the user has said that it is meant.
 */
export function refuseOtherAccount(
  endpointId: string,
  outputs: Properties,
  record: AccountRecord,
  allowed: boolean,
): void {
  const [oldAddress, oldFingerprint] = String(outputs.__account ?? "").split(" ");
  const [address, fingerprint] = record(endpointId).split(" ");
  if (allowed || !oldAddress || (oldAddress === address && oldFingerprint === fingerprint)) return;
  const reason =
    oldAddress === address
      ? "the API key is another one than it was last seen with"
      : `it was last seen at ${oldAddress}, and this is ${address}`;
  throw new AccountChangedError(
    `endpoint ${endpointId} is not in this account, but ${reason}. It may still exist there, and cost. Use the former ` +
      "key and address; or, if it is meant to be gone (the key was rotated, say), set " +
      "SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE=true for this run",
  );
}
