import { graphqlState } from "../../sdk/client/endOfGraphql";
import { howItEnded } from "../../sdk/connection/endSigns";
import type { Resolved } from "../../sdk/connection/resolver";
import { API_VARIABLE, serviceName } from "../../sdk/connection/settings";
import { ServerlessGpuError } from "../../sdk/errors/errors";
import { say } from "../terminal";

/**
 * Returns the connection with the API that the service serves, if no setting selects one: REST v2
 * if GraphQL responds with status 410 Gone. A command does not know which endpoints the account
 * must have, so it ignores all other statuses.
 */
export async function withLiveApi<T extends Resolved>(found: T): Promise<T> {
  const { settings, from } = found;
  if (settings.api !== undefined || settings.apiKey === undefined) return found;
  const state = await stateOf(settings);
  if (state?.is === "missing") {
    say(`GraphQL answers with ${howItEnded(state.status)}. If the service has ended it, set ${API_VARIABLE}=v2`);
  }
  if (state?.is !== "gone") return found;
  const why = `GraphQL has ended with ${howItEnded(state.status)}; to always use REST v2, set ${API_VARIABLE}=v2`;
  return { ...found, settings: { ...settings, api: "v2" }, from: { ...from, api: why } };
}

/** Returns the state of GraphQL at the service, or `undefined` if the settings are not valid. */
async function stateOf(settings: Resolved["settings"]) {
  try {
    return await graphqlState({ ...settings, service: serviceName(settings), api: "graphql" });
  } catch (error) {
    if (error instanceof ServerlessGpuError) return undefined;
    throw error;
  }
}
