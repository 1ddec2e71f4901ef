import { requireAddress } from "../connection/settings";
import { ServerlessGpuError } from "../errors/errors";
import { makeCall } from "../transport/makeCall";
import { send } from "../transport/send";
import { INTERFACE_PATHS } from "../transport/urls";
import { connectAccount } from "./connected";
import type { ClientOptions } from "./options";

/** How long each look at an API may take, in milliseconds. */
export const LOOK_MS = 10_000;

/**
 * Reads `myself { id }` over GraphQL. Returns the status, or `undefined` if there was no response.
 */
export async function statusOfRead(options: ClientOptions): Promise<number | undefined> {
  const connected = connectAccount({ ...options, api: "graphql", retry: { maxAttempts: 1, maxElapsedMs: LOOK_MS } });
  const { apiKey, http, calls } = connected;
  const key = encodeURIComponent(apiKey.reveal());
  const request = {
    name: "myself",
    operation: "the check of GraphQL",
    method: "POST",
    url: `${requireAddress(connected.options, "graphqlUrl")}${INTERFACE_PATHS.graphqlUrl}?api_key=${key}`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: "{ myself { id } }" }),
  } as const;
  try {
    const { status } = await makeCall(calls, {
      ...request,
      repeatability: "safe",
      attempt: (attempt) => send(http, { ...request, attempt }),
    });
    return status;
  } catch (error) {
    if (!(error instanceof ServerlessGpuError)) throw error;
    return undefined;
  } finally {
    await connected.close();
  }
}
