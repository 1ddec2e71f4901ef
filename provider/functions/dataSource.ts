import { requireAddress } from "../../sdk/connection/settings";
import { endpointQueueUrl } from "../../sdk/transport/urls";
import { type AccountIdentity, accountOf } from "../connection/account";
import { clientFor } from "../connection/clientFor";
import { providerSettings, type ReadConfig } from "../connection/config";
import type { ProviderClient } from "../connection/providerClient";

/** A function that reads data from RunPod. */
export interface DataSource<Args, Result> {
  find(context: DataSourceContext, args: Args): Promise<Result>;
  /**
   * The resource with the same settings. The settings that are lists in this resource are also
   * lists in the plugin's result.
   */
  readonly resource?: "ServerlessEndpoint" | "ServerlessTemplate" | "NetworkVolume";
  /**
   * The property under which the plugin returns a result that is not an object, because the
   * plugin's functions must return objects.
   */
  readonly wrapper?: string;
  /** The names of the results that the plugin returns as secrets. */
  readonly secrets?: readonly string[];
  /**
   * Converts the object that a unit test's mock returns to the function's result.
   * @default the object itself
   */
  readonly fromMock?: (mocked: Readonly<Record<string, unknown>>) => unknown;
}

/**
 * Returns the data source unchanged, so that the types of its arguments and its result are
 * inferred.
 */
export function source<Args, Result>(row: DataSource<Args, Result>): DataSource<Args, Result> {
  return row;
}

/** The client and the URLs that a data source uses. */
export interface DataSourceContext {
  readonly client: ProviderClient;
  readonly account: AccountIdentity;
  /** Returns the URL of an endpoint's queue. */
  readonly queueUrlOf: (endpointId: string) => string;
}

/**
 * Returns the client and the URLs that the settings define.
 * @throws ConfigurationError if a setting is missing; thrown before any call is made
 */
export function contextFor(readConfig: ReadConfig): DataSourceContext {
  const settings = providerSettings(readConfig);
  return {
    client: clientFor(settings),
    account: accountOf(settings),
    queueUrlOf: (endpointId) => endpointQueueUrl(requireAddress(settings, "queueUrl"), endpointId),
  };
}
