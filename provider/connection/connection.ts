import type * as pulumi from "@pulumi/pulumi";
import { managementApi, requireAddress, serviceName } from "../../sdk/connection/settings";
import { type Capabilities, capabilitiesAt } from "../../sdk/contract/capabilities";
import { exitWithEngine } from "../engine/exitWithEngine";
import { containsUnknown } from "../engine/properties";
import { type AccountPlace, accountOf } from "./account";
import { clientFor } from "./clientFor";
import { CONFIG_NAMESPACE, type ProviderSettings, providerSettings, type ReadConfig } from "./config";
import type { ProviderClient } from "./providerClient";

/** The deployment's config. A process serves one deployment. */
let config: ReadConfig = () => undefined;

/** When the deployment began. It may take longer than an hour. */
let begun: number | undefined;

/**
 * Stores the config. Must not await anything, because the first calls don't wait for its promise.
 */
export async function configure(request: pulumi.dynamic.ConfigureRequest): Promise<void> {
  exitWithEngine();
  begun ??= Date.now();
  config = (name) => request.config.get(`${CONFIG_NAMESPACE}:${name}`);
  // Registers the key as a secret, because `check` reports the values of fields.
  currentPlace();
}

/**
 * Returns when this process's deployment began, in milliseconds since the Unix epoch. If there is
 * no deployment, returns the current time, because a program's process may be a server that runs
 * for months.
 */
export function deploymentBegan(): number {
  return begun ?? Date.now();
}

/** Reads one setting of the config. */
export const readConfig: ReadConfig = (name) => config(name);

/** Everything that a call needs. */
export interface Connection extends AccountPlace {
  readonly client: ProviderClient;
  readonly settings: ProviderSettings;
  readonly capabilities: Capabilities;
}

/**
 * Returns the connection that the settings select.
 * @throws ConfigurationError if a setting is missing, before any request
 */
export function connect(): Connection {
  const settings = providerSettings(readConfig);
  return { client: clientFor(settings), settings, capabilities: capabilitiesOf(settings), ...placeOf(settings) };
}

/**
 * Returns the account and queue URL that the settings select; `undefined` if part of it is unknown,
 * because previews work without a key.
 */
export function currentPlace(): AccountPlace | undefined {
  try {
    const place = placeOf(providerSettings(readConfig));
    return containsUnknown(place) ? undefined : place;
  } catch {
    return undefined;
  }
}

/** Returns the capabilities of the selected API; `undefined` if part of the settings is unknown. */
export function currentCapabilities(): Capabilities | undefined {
  try {
    return capabilitiesOf(providerSettings(readConfig));
  } catch {
    return undefined;
  }
}

/**
 * Returns the capabilities of the selected API.
 * @throws ConfigurationError if the service or API is unknown
 */
export function capabilitiesOf(settings: ProviderSettings): Capabilities {
  return capabilitiesAt(managementApi(settings), serviceName(settings));
}

const places = new WeakMap<ProviderSettings, AccountPlace>();

function placeOf(settings: ProviderSettings): AccountPlace {
  const known = places.get(settings);
  if (known) return known;
  const place = { account: accountOf(settings), queueUrl: requireAddress(settings, "queueUrl") };
  places.set(settings, place);
  return place;
}
