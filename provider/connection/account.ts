import { createHash } from "node:crypto";
import { AccountChangedError } from "../../sdk/errors";
import { endpointQueueUrl } from "../../sdk/transport/urls";
import type { Properties } from "../endpoint/inputs";

/** What is recorded of the account that an endpoint belongs to. */
interface AccountRecord {
  /** The service, see `Account`. */
  readonly service: string;
  /** Of the key, salted with the endpoint's id: it tells nothing of the key, nor which endpoints share one. */
  readonly fingerprint: string;
  /** Logical name of the explicit provider; empty for the default one. */
  readonly provider: string;
}

/** The account that the settings lead to. */
export interface Account {
  /** The name of a service that is known by name (`runpod`), otherwise the URL of its management interface. */
  readonly service: string;
  readonly apiKey: string;
  readonly provider: string;
}

const FINGERPRINT_DIGITS = 12;

/** One line for state. */
export function accountRecord({ service, apiKey, provider }: Account, endpointId: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([endpointId, apiKey]))
    .digest("hex");
  return [service, digest.slice(0, FINGERPRINT_DIGITS), provider].join(" ").trim();
}

/** Where an endpoint is, beside its own record. */
export interface Place {
  /** URL of the queue interface. */
  readonly queueUrl: string;
  readonly account: Account;
}

/** What is recorded of the place where the endpoint was seen. */
export function placeRecord({ account, queueUrl }: Place, endpointId: string): Properties {
  return { queueUrl: endpointQueueUrl(queueUrl, endpointId), __account: accountRecord(account, endpointId) };
}

/** Returns `true` if outputs record another place, or another key, than where the settings lead to. */
export function isRecordedElsewhere(outputs: Properties, place: Place, endpointId: string): boolean {
  return Object.entries(placeRecord(place, endpointId)).some(([field, value]) => outputs[field] !== value);
}

/**
 * Returns `true` if the program gives the resource to another provider, or the provider another queue. A rotated key
 * plans nothing: it would touch every resource.
 */
export function isRedirected(outputs: Properties, place: Place, endpointId: string): boolean {
  const before = parseRecord(outputs.__account);
  if (before === undefined) return false;
  const { queueUrl } = placeRecord(place, endpointId);
  return before.provider !== place.account.provider || outputs.queueUrl !== queueUrl;
}

/** Returns `true` if a resource was given to another provider, and that is another account. */
export function isMoved(outputs: Properties, account: Account, endpointId: string): boolean {
  const before = parseRecord(outputs.__account);
  const now = parseRecord(accountRecord(account, endpointId));
  return before !== undefined && before.provider !== now?.provider && !isSameAccount(before, now);
}

/**
 * Absent means gone only in the account where the endpoint was last seen; anywhere else it may well exist, and cost.
 * @throws AccountChangedError if the account differs, unless the user has said that the endpoint is gone
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
    before.service === account.service
      ? "the API key is another one than it was last seen with"
      : `it was last seen at ${before.service}, and this is ${account.service}`;
  throw new AccountChangedError(
    `endpoint ${endpointId} is not in this account, but ${reason}. It may still exist there, and cost. Use the former ` +
      "key and service; or, if the endpoint is really gone (the key was rotated, say), set " +
      "SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE=true for this run",
  );
}

function parseRecord(record: unknown): AccountRecord | undefined {
  if (typeof record !== "string") return undefined;
  const [service = "", fingerprint = "", ...provider] = record.split(" ");
  return { service, fingerprint, provider: provider.join(" ") };
}

function isSameAccount(one: AccountRecord, other: AccountRecord | undefined): boolean {
  return one.service === other?.service && one.fingerprint === other.fingerprint;
}
