import type * as pulumi from "@pulumi/pulumi";
import type { Client } from "../sdk/client";
import { requireAddress, requireApiKey } from "../sdk/config";
import type { Account } from "./account";
import { clientFor } from "./clients";
import { CONFIG_NAMESPACE, type ProviderSettings, providerSettings, type ReadConfig } from "./config";
import { endWithEngine } from "./endWithEngine";
import { containsUnknown } from "./inputs";

/** The config of the deployment that this process serves. */
let config: ReadConfig = () => undefined;

/** Takes the config. It must be done when it returns: the first calls do not wait for a promise. */
export async function configure(request: pulumi.dynamic.ConfigureRequest): Promise<void> {
  endWithEngine();
  config = (name) => request.config.get(`${CONFIG_NAMESPACE}:${name}`);
  // `check` reports what was typed into a field: the key is to be known as a secret before.
  currentAccount();
}

/** Reads one setting of the config. */
export const readConfig: ReadConfig = (name) => config(name);

/** All that a call needs. */
export interface Connection {
  readonly client: Client;
  readonly account: Account;
  /** Address of the queue interface. */
  readonly queueUrl: string;
  readonly settings: ProviderSettings;
}

/** Throws before any call when a setting is missing, so that nothing is created that cannot be described afterwards. */
export function connect(): Connection {
  const settings = providerSettings(readConfig);
  return {
    client: clientFor(settings),
    account: accountOf(settings),
    queueUrl: requireAddress(settings, "queueUrl"),
    settings,
  };
}

/** The account, as far as it is known: previews work without a key, and with one that is not known yet. */
export function currentAccount(): Account | undefined {
  try {
    const account = accountOf(providerSettings(readConfig));
    return containsUnknown(account) ? undefined : account;
  } catch {
    return undefined;
  }
}

function accountOf(settings: ProviderSettings): Account {
  return {
    address: requireAddress(settings, "graphqlUrl"),
    apiKey: requireApiKey(settings),
    provider: settings.provider,
  };
}
