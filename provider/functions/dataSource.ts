import type { Client } from "../../sdk/client";
import { requireAddress } from "../../sdk/config";
import { endpointQueueUrl } from "../../sdk/transport/urls";
import { clientFor } from "../connection/clientFor";
import { providerSettings, type ReadConfig } from "../connection/config";

/** A function that reads from the service. */
export interface DataSource<Args, Result> {
  /** Name of the function, as unit tests with Pulumi's mocks see it: `serverless-gpu:index:<name>`. */
  readonly name: string;
  readonly find: (context: DataSourceContext, args: Args) => Promise<Result>;
}

/** The client and the URLs for a data source. */
export interface DataSourceContext {
  readonly client: Client;
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
