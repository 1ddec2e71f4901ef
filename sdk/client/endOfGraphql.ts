import { type GraphqlState, MISSING } from "../connection/endSigns";
import { sleep, systemClock } from "../contract/clock";
import { ServerlessGpuError } from "../errors/errors";
import { createManagement } from "./managementClient";
import type { ClientOptions } from "./options";
import { LOOK_MS, statusOfRead } from "./statusOfRead";

/** The time between the two checks of a missing API, in milliseconds. */
const SECOND_LOOK_MS = 1_000;

/**
 * Checks, by reading `myself { id }`, whether the service has shut down GraphQL. A read that fails
 * in any other way, such as with a timeout or with status 401 or 503, means that it has not.
 */
export async function graphqlState(options: ClientOptions): Promise<GraphqlState> {
  const first = await statusOfRead(options);
  if (first === 410) return { is: "gone", status: first };
  if (first === undefined || !MISSING.includes(first)) return { is: "served" };
  await sleep(options.clock ?? systemClock, SECOND_LOOK_MS);
  const second = await statusOfRead(options);
  if (second === 410) return { is: "gone", status: second };
  if (second === undefined || !MISSING.includes(second)) return { is: "served" };
  const endpointIds = await endpointIdsOverV2(options);
  return endpointIds ? { is: "missing", status: second, endpointIds } : { is: "served" };
}

/** Returns the ids of the account's endpoints, or `undefined` if REST v2 does not list them. */
async function endpointIdsOverV2(options: ClientOptions): Promise<ReadonlySet<string> | undefined> {
  const client = createManagement({ ...options, api: "v2" });
  try {
    const { records, unreadable } = await client.endpoints.listReadable({ timeoutMs: LOOK_MS });
    return new Set([...records, ...unreadable].flatMap(({ id }) => id ?? []));
  } catch (error) {
    if (!(error instanceof ServerlessGpuError)) throw error;
    return undefined;
  } finally {
    await client.close();
  }
}
