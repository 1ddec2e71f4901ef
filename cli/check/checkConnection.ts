import { type EnvironmentSettings, managementApi, serviceName } from "../../sdk/connection/settings";
import { SecretText } from "../../sdk/errors/secretText";
import { findConnection, lineOf, requireSecrets } from "../connection/connection";

/**
 * Returns the connection for a review's lookups, and prints which one it is. A review needs neither
 * a key nor a service.
 */
export async function checkConnection(stack: string | true | undefined): Promise<EnvironmentSettings> {
  const hasKey = (settings: { readonly apiKey?: string | undefined }) => settings.apiKey !== undefined;
  const found = await findConnection(process.cwd(), { stack });
  requireSecrets(found);
  const { settings, from } = found;
  const api = hasKey(settings)
    ? { name: "v2", why: "and GraphQL for what it lacks" }
    : { name: "graphql", why: "which needs no key for data centers" };
  const shown = { ...found, settings: { ...settings, api: api.name }, from: { ...from, api: api.why } };
  process.stderr.write(`${lineOf(shown)}\n`);
  const { apiKey = "" } = settings;
  if (apiKey !== "") new SecretText(apiKey);
  return { ...settings, apiKey, service: serviceName(settings), api: managementApi(settings) };
}
