import type * as pulumi from "@pulumi/pulumi";
import type { Client } from "../../sdk/client";
import { requireAddress, requireApiKey } from "../../sdk/config";
import { RUNPOD_ADDRESSES } from "../../sdk/contract/limits";
import { exitWithEngine } from "../exitWithEngine";
import { containsUnknown } from "../properties";
import type { Account, Place } from "./account";
import { clientFor } from "./clientFor";
import { CONFIG_NAMESPACE, type ProviderSettings, providerSettings, type ReadConfig } from "./config";

/** The config of the deployment that this process serves. */
let config: ReadConfig = () => undefined;

/** Takes the config. It must be done when it returns: the first calls do not wait for a promise. */
export async function configure(request: pulumi.dynamic.ConfigureRequest): Promise<void> {
  exitWithEngine();
  config = (name) => request.config.get(`${CONFIG_NAMESPACE}:${name}`);
  // `check` reports what was typed into a field: the key is to be known as a secret before.
  currentPlace();
}

/** Reads one setting of the config. */
export const readConfig: ReadConfig = (name) => config(name);

/** All that a call needs. */
export interface Connection extends Place {
  readonly client: Client;
  readonly settings: ProviderSettings;
}

/** Throws before any call when a setting is missing, so that nothing is created that cannot be described afterwards. */
export function connect(): Connection {
  const settings = providerSettings(readConfig);
  return { client: clientFor(settings), settings, ...placeOf(settings) };
}

/** The place that the settings lead to, if all of it is known: previews work without a key. */
export function currentPlace(): Place | undefined {
  try {
    const place = placeOf(providerSettings(readConfig));
    return containsUnknown(place) ? undefined : place;
  } catch {
    return undefined;
  }
}

function placeOf(settings: ProviderSettings): Place {
  return { account: accountOf(settings), queueUrl: requireAddress(settings, "queueUrl") };
}

function accountOf(settings: ProviderSettings): Account {
  const managementUrl = requireAddress(settings, "graphqlUrl");
  return {
    // A service that is known by name stays the same one when its interfaces move.
    service: managementUrl === RUNPOD_ADDRESSES.graphqlUrl ? "runpod" : managementUrl,
    apiKey: requireApiKey(settings),
    provider: settings.provider,
  };
}
