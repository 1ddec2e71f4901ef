import { createHash } from "node:crypto";
import { type ConnectionSettings, requireAddress, requireApiKey } from "../../sdk/connection/settings";
import { RUNPOD_ADDRESSES } from "../../sdk/contract/limits";
import { isLoopback } from "../../sdk/contract/loopback";
import { CodedError } from "../../sdk/errors/errors";
import { endpointQueueUrl } from "../../sdk/transport/urls";
import type { Properties } from "../engine/properties";

/** A record's account, as stored in state. */
interface AccountRecord {
  /** The service; see `AccountIdentity`. */
  readonly service: string;
  /**
   * A hash of the key and the record's id. It reveals neither the key nor which records share one.
   */
  readonly fingerprint: string;
  /** The explicit provider's logical name; empty for the default provider. */
  readonly provider: string;
}

/** Identifies the account that the settings select. */
export interface AccountIdentity {
  /** The name of a named service (`runpod`), or else the URL of its management API. */
  readonly service: string;
  readonly apiKey: string;
  readonly provider: string;
}

const FINGERPRINT_DIGITS = 12;

/**
 * Returns the account that the settings select.
 * @throws ConfigurationError if the key or a URL is missing
 */
export function accountOf(settings: ConnectionSettings & { readonly provider: string }): AccountIdentity {
  const managementUrl = requireAddress(settings, "graphqlUrl");
  return {
    // A named service remains the same service if its URLs change.
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

/** An account, and the URL of its queue API. */
export interface AccountPlace {
  /** URL of the queue interface. */
  readonly queueUrl: string;
  readonly account: AccountIdentity;
}

/**
 * Returns `true` if the place or key in the outputs differs from the one that the settings select.
 */
export function isRecordedElsewhere(outputs: Properties, place: AccountPlace, id: string): boolean {
  return outputs.__account !== accountRecord(place.account, id) || isRedirected(outputs, place, id);
}

/**
 * Returns `true` if the program changes the resource's provider or the provider's URLs. A rotated
 * key does not count, because it would affect every resource.
 */
export function isRedirected(outputs: Properties, { account, queueUrl }: AccountPlace, id: string): boolean {
  const before = parseRecord(outputs.__account);
  if (before === undefined) return false;
  if (before.provider !== account.provider || before.service !== account.service) return true;
  // Only endpoints have a queue.
  return outputs.queueUrl !== undefined && outputs.queueUrl !== endpointQueueUrl(queueUrl, id);
}

/** Returns `true` if the record was last seen with another key or at another service. */
export function isOtherAccount(outputs: Properties, account: AccountIdentity, id: string): boolean {
  const before = parseRecord(outputs.__account);
  return before !== undefined && !isSameAccount(before, parseRecord(accountRecord(account, id)));
}

/** Returns the service recorded in the outputs; `undefined` if there is none. */
export function recordedService(outputs: Properties): string | undefined {
  return parseRecord(outputs.__account)?.service;
}

/**
 * Returns `true` if the outputs record another provider. An empty name means the default provider.
 */
export function isOtherProvider(outputs: Properties, provider: string): boolean {
  const before = parseRecord(outputs.__account);
  return before !== undefined && before.provider !== provider;
}

/**
 * Refuses to treat a record as gone if it was last seen in another account, where it may still
 * exist.
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
  foreign.set(JSON.stringify(account), `${noun} ${id}`);
  const reason =
    before.service === account.service
      ? "It was last seen with another API key"
      : `It was last seen at ${before.service}, not at ${account.service}`;
  if (isLoopbackUrl(before.service)) throw new CodedError("ACCOUNT_CHANGED", ofEmulator(noun, id, reason));
  throw new CodedError(
    "ACCOUNT_CHANGED",
    [
      `${noun} ${id} is not in this account. ${reason}. It may still exist in that account, and you may still be charged ` +
        "for it. Use the previous key and service.",
      `If the ${noun} really is gone (for example, because the account is the same and only its key was rotated), set ` +
        "SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE=true for this run",
    ].join("\n"),
  );
}

/** The accounts in which this run has missed a record, with that record. */
const foreign = new Map<string, string>();

/**
 * Refuses to create a record after this run has found a record of another account, because the key
 * is then probably the wrong one.
 * @throws ACCOUNT_CHANGED in that case
 */
export function refuseAfterOtherAccount(noun: string, account: AccountIdentity): void {
  const met = foreign.get(JSON.stringify(account));
  if (met === undefined) return;
  throw new CodedError(
    "ACCOUNT_CHANGED",
    `no ${noun} was created, because ${met} of this stack is not in this key's account. Use the previous key and service`,
  );
}

/** The accounts in which this run has seen a record of state. */
const proven = new Set<string>();

/**
 * Notes that the account contains a record of state, which proves that it is the stack's account.
 */
export function noteProven(account: AccountIdentity): void {
  proven.add(JSON.stringify(account));
}

/** Returns `true` if this run has seen a record of state in the account. */
export function isProven(account: AccountIdentity): boolean {
  return proven.has(JSON.stringify(account));
}

/** Returns `true` if a recorded URL points to this machine, where an emulator may listen. */
export function isLoopbackUrl(service: string): boolean {
  return URL.canParse(service) && isLoopback(service);
}

/** Explains that an emulator without a data file loses its records when it ends. */
function ofEmulator(noun: string, id: string, reason: string): string {
  return [
    `${noun} ${id} is not in this account. ${reason}. It belonged to a service on this machine, probably an emulator. If ` +
      "that ended without --data, everything in it is gone, and the state is out of date. If it was a tunnel to another " +
      "service, it may still exist there, and you may still be charged for it.",
    "To continue without it, set SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE=true for one run of pulumi refresh (or of pulumi destroy, " +
      "if you do not need to recover anything). To keep an emulator's data, start it with --data <file>",
  ].join("\n");
}

function parseRecord(record: unknown): AccountRecord | undefined {
  if (typeof record !== "string") return undefined;
  const [service = "", fingerprint = "", ...provider] = record.split(" ");
  return { service, fingerprint, provider: provider.join(" ") };
}

function isSameAccount(one: AccountRecord, other: AccountRecord | undefined): boolean {
  return one.service === other?.service && one.fingerprint === other.fingerprint;
}
