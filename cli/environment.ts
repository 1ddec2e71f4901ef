import { type Client, createClient } from "../sdk/client";
import { ENVIRONMENT_VARIABLES, requireApiKey, serviceName } from "../sdk/config";

/**
 * A client of the account that the environment names.
 * @throws ConfigurationError when the key or an address is missing
 */
export function clientFromEnvironment(environment: NodeJS.ProcessEnv = process.env): Client {
  const settings = Object.fromEntries(
    Object.entries(ENVIRONMENT_VARIABLES).map(([setting, variable]) => [setting, environment[variable]]),
  );
  return createClient({ ...settings, apiKey: requireApiKey(settings), service: serviceName(settings) });
}
