import { createHash } from "node:crypto";
import { AccountChangedError } from "../sdk/errors";
import type { Properties } from "./inputs";

/** What is recorded of the account that an endpoint belongs to. */
interface AccountRecord {
  /** Address of the GraphQL interface. */
  readonly address: string;
  /** Of the key, salted with the endpoint's id: it tells nothing of the key, nor which endpoints share one. */
  readonly fingerprint: string;
  /** Logical name of the explicit provider; empty for the default one. */
  readonly provider: string;
}

/** The account that the settings lead to. */
export interface Account {
  readonly address: string;
  readonly apiKey: string;
  readonly provider: string;
}

const FINGERPRINT_DIGITS = 12;

/** One line for state. */
export function accountRecord({ address, apiKey, provider }: Account, endpointId: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([endpointId, apiKey]))
    .digest("hex");
  return [address, digest.slice(0, FINGERPRINT_DIGITS), provider].join(" ").trim();
}

/**
 * Whether a resource was given to another provider, and that is another account. A rotated key alone, or a renamed
 * provider alone, moves nothing.
 */
export function isMoved(outputs: Properties, account: Account, endpointId: string): boolean {
  const before = parseRecord(outputs.__account);
  const now = parseRecord(accountRecord(account, endpointId));
  return before !== undefined && before.provider !== now?.provider && !isSameAccount(before, now);
}

/**
 * Absent means gone only in the account, at the address, where the endpoint was last seen; anywhere else it may well
 * exist, and cost. Throws `AccountChangedError` when either differs, unless the user has said that it is meant.
 */
export function refuseOtherAccount(
  outputs: Properties,
  { account, settings }: { readonly account: Account; readonly settings: { readonly allowAccountChange: boolean } },
  endpointId: string,
): void {
  const before = parseRecord(outputs.__account);
  if (settings.allowAccountChange || !before || isSameAccount(before, parseRecord(accountRecord(account, endpointId))))
    return;
  const reason =
    before.address === account.address
      ? "the API key is another one than it was last seen with"
      : `it was last seen at ${before.address}, and this is ${account.address}`;
  throw new AccountChangedError(
    `endpoint ${endpointId} is not in this account, but ${reason}. It may still exist there, and cost. Use the former ` +
      "key and address; or, if it is meant to be gone (the key was rotated, say), set " +
      "SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE=true for this run",
  );
}

function parseRecord(record: unknown): AccountRecord | undefined {
  if (typeof record !== "string") return undefined;
  const [address = "", fingerprint = "", ...provider] = record.split(" ");
  return { address, fingerprint, provider: provider.join(" ") };
}

function isSameAccount(one: AccountRecord, other: AccountRecord | undefined): boolean {
  return one.address === other?.address && one.fingerprint === other.fingerprint;
}
