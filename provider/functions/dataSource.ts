import { requireAddress } from "../../sdk/connection/settings";
import { endpointQueueUrl } from "../../sdk/transport/urls";
import { clientFor } from "../connection/clientFor";
import { providerSettings, type ReadConfig } from "../connection/config";
import type { ProviderClient } from "../connection/providerClient";

/** A function that reads from the service. */
export interface DataSource<Args, Result> {
  find(context: DataSourceContext, args: Args): Promise<Result>;
  /** The resource with the same settings: its lists are also lists in the plugin. */
  readonly resource?: "ServerlessEndpoint" | "ServerlessTemplate" | "NetworkVolume";
  /**
   * The name under which the plugin returns a result that is not an object: the plugin's functions
   * return objects.
   */
  readonly wrapper?: string;
  /** Names of the results that the plugin returns as secrets. */
  readonly secrets?: readonly string[];
  /**
   * Converts the object that a unit test's mock returns to the result.
   * @default the object itself
   */
  readonly fromMock?: (mocked: Readonly<Record<string, unknown>>) => unknown;
}

/** Returns a data source, with the types of its arguments and its result. */
export function source<Args, Result>(row: DataSource<Args, Result>): DataSource<Args, Result> {
  return row;
}

/** The client and the URLs for a data source. */
export interface DataSourceContext {
  readonly client: ProviderClient;
  /** Returns the URL of an endpoint's queue. */
  readonly queueUrlOf: (endpointId: string) => string;
}

/**
 * Returns the client and the URLs of the settings.
 * @throws ConfigurationError if a setting is missing, before any call
 */
export function contextFor(readConfig: ReadConfig): DataSourceContext {
  const settings = providerSettings(readConfig);
  return {
    client: clientFor(settings),
    queueUrlOf: (endpointId) => endpointQueueUrl(requireAddress(settings, "queueUrl"), endpointId),
  };
}
