import { isAutomaticNameOf } from "../../provider/fields/naming";
import { type Client, ServerlessGpuError } from "../../sdk";
import { say } from "../terminal";

/** Make a single attempt for each part of the list, because the user is waiting. */
const ONCE = { timeoutMs: 5_000, maxRetries: 0 };
/** The time limit for the whole list, in milliseconds. */
const LIST_MS = 10_000;

/**
 * Looks up an endpoint's id by its id or exact name. Returns `given` unchanged if no endpoint
 * matches, or if the endpoints cannot be listed, in which case it prints a note. For the logical
 * name of a resource, it prints the automatic names that begin with it.
 * @throws Error if several endpoints have the name
 */
export async function endpointId(client: Client, given: string): Promise<string> {
  const signal = AbortSignal.timeout(LIST_MS);
  const all = await client.endpoints.list({ ...ONCE, signal }).catch((error: unknown) => {
    if (!signal.aborted && !(error instanceof ServerlessGpuError)) throw error;
    const why = signal.aborted ? `no complete list within ${LIST_MS / 1000} s` : (error as Error).message;
    say(`${given} is assumed to be an id, because the endpoints could not be listed: ${why}`);
    return [];
  });
  if (all.some(({ id }) => id === given)) return given;
  const named = all.filter(({ name }) => name === given);
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(", ");
    throw new Error(`${named.length} endpoints are named "${given}": ${ids}. Give one of these ids`);
  }
  if (named[0] !== undefined) return named[0].id;
  const automatic = all.flatMap(({ name }) => (isAutomaticNameOf(given, name) ? name : []));
  if (automatic.length > 0) say(`no endpoint has the name "${given}". Did you mean ${automatic.join(" or ")}?`);
  return given;
}
