import { createHash } from "node:crypto";
import { type ConnectionSettings, requireAddress, requireApiKey } from "../../sdk/connection/settings";
import { RUNPOD_ADDRESSES } from "../../sdk/contract/limits";
import { isLoopback } from "../../sdk/contract/loopback";
import { CodedError } from "../../sdk/errors";
import { endpointQueueUrl } from "../../sdk/transport/urls";
import type { Properties } from "../properties";

/** An endpoint's account, as state records it. */
interface AccountRecord {
  /** The service; see `AccountIdentity`. */
  readonly service: string;
  /**
   * Hash of the key and the endpoint's id. It reveals neither the key nor which endpoints share
   * one.
   */
  readonly fingerprint: string;
  /** Logical name of the explicit provider; empty for the default provider. */
  readonly provider: string;
}

/** What distinguishes the settings' account from others. */
export interface AccountIdentity {
  /**
   * Name of the service if it is a named one (`runpod`), otherwise the URL of its management
   * interface.
   */
  readonly service: string;
  readonly apiKey: string;
  readonly provider: string;
}

const FINGERPRINT_DIGITS = 12;

/**
 * Returns the account that the settings describe.
 * @throws ConfigurationError if there is no key or no URL
 */
export function accountOf(settings: ConnectionSettings & { readonly provider: string }): AccountIdentity {
  const managementUrl = requireAddress(settings, "graphqlUrl");
  return {
    // A named service stays the same service when its URLs change.
    service: managementUrl === RUNPOD_ADDRESSES.graphqlUrl ? "runpod" : managementUrl,
    apiKey: requireApiKey(settings),
    provider: settings.provider,
  };
}

/** Returns the account as one line for state. */
export function accountRecord({ service, apiKey, provider }: AccountIdentity, id: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([id, apiKey]))
    .digest("hex");
  return [service, digest.slice(0, FINGERPRINT_DIGITS), provider].join(" ").trim();
}

/** An endpoint's account, and the URL of its queue interface. */
export interface AccountPlace {
  /** URL of the queue interface. */
  readonly queueUrl: string;
  readonly account: AccountIdentity;
}

/** Returns `true` if the outputs record a different place or key than the settings have. */
export function isRecordedElsewhere(outputs: Properties, place: AccountPlace, id: string): boolean {
  return outputs.__account !== accountRecord(place.account, id) || isRedirected(outputs, place, id);
}

/**
 * Returns `true` if the program changes the resource's provider or the provider's URLs. A rotated
 * key does not count: it would change every resource.
 */
export function isRedirected(outputs: Properties, { account, queueUrl }: AccountPlace, id: string): boolean {
  const before = parseRecord(outputs.__account);
  if (before === undefined) return false;
  if (before.provider !== account.provider || before.service !== account.service) return true;
  // Only endpoints have a queue.
  return outputs.queueUrl !== undefined && outputs.queueUrl !== endpointQueueUrl(queueUrl, id);
}

/** Returns `true` if the endpoint was last seen with a different key or at a different service. */
export function isOtherAccount(outputs: Properties, account: AccountIdentity, id: string): boolean {
  const before = parseRecord(outputs.__account);
  return before !== undefined && !isSameAccount(before, parseRecord(accountRecord(account, id)));
}

/** Returns the service that the outputs record; `undefined` if they record none. */
export function recordedService(outputs: Properties): string | undefined {
  return parseRecord(outputs.__account)?.service;
}

/**
 * Returns `true` if the outputs record a different provider. An empty name means the default
 * provider.
 */
export function isOtherProvider(outputs: Properties, provider: string): boolean {
  const before = parseRecord(outputs.__account);
  return before !== undefined && before.provider !== provider;
}

/**
 * Refuses to treat a record as gone if this is not the account where it was last seen: it may still
 * exist there.
 * @throws ACCOUNT_CHANGED if the account differs, unless the user has set `allowAccountChange`
 */
export function refuseOtherAccount(
  noun: string,
  outputs: Properties,
  {
    account,
    settings,
  }: { readonly account: AccountIdentity; readonly settings: { readonly allowAccountChange: boolean } },
  id: string,
): void {
  const before = parseRecord(outputs.__account);
  if (settings.allowAccountChange || !before || isSameAccount(before, parseRecord(accountRecord(account, id)))) return;
  const reason =
    before.service === account.service
      ? "the API key differs from the one it was last seen with"
      : `it was last seen at ${before.service}, not at ${account.service}`;
  if (isLoopbackUrl(before.service)) throw new CodedError("ACCOUNT_CHANGED", ofEmulator(noun, id, reason));
  throw new CodedError(
    "ACCOUNT_CHANGED",
    `${noun} ${id} is not in this account, but ${reason}. It may still exist there, and you may still be charged for it. Use ` +
      `the previous key and service. If the ${noun} really is gone (for example, because the account is the same and only its ` +
      "key was rotated), set SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE=true for this run",
  );
}

/** Returns `true` for a recorded URL of this machine, where an emulator listens. */
export function isLoopbackUrl(service: string): boolean {
  return URL.canParse(service) && isLoopback(service);
}

/** An emulator without a data file takes its records with it when it ends. */
function ofEmulator(noun: string, id: string, reason: string): string {
  return (
    `${noun} ${id} is not in this account, but ${reason}. It belonged to an emulator on this machine. If that emulator has ended, ` +
    "nothing is left of it, and the state is out of date. To go on without it, set SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE=true " +
    "for one run of pulumi refresh (or of destroy, if you want none of it back). To keep an emulator's records, start it " +
    "with --data <file>"
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
