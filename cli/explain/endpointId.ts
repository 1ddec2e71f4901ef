import { type Client, ServerlessGpuError } from "../../sdk";

/** One attempt, because people wait. What cannot be listed is taken for an id. */
const ONCE = { timeoutMs: 5_000, maxRetries: 0 };

/**
 * Returns the id of an endpoint that is given by its id or by its exact name; what is given if the
 * endpoints cannot be listed, or none fits.
 * @throws Error if several endpoints have the name
 */
export async function endpointId(client: Client, given: string): Promise<string> {
  const all = await client.endpoints.list(ONCE).catch((error: unknown) => {
    if (error instanceof ServerlessGpuError) return [];
    throw error;
  });
  if (all.some(({ id }) => id === given)) return given;
  const named = all.filter(({ name }) => name === given);
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(", ");
    throw new Error(`${named.length} endpoints are named "${given}": ${ids}. Give one of these ids`);
  }
  return named[0]?.id ?? given;
}
