import { type Client, createClient, type EndpointRelease } from "../../sdk";
import { settingsFromEnvironment } from "../../sdk/config";
import { endpointId } from "../explain/endpointId";

/** The most releases that the commands read. */
const MOST_RELEASES = 100;

/** The releases of an endpoint, the newest first. */
export interface EndpointReleases {
  readonly id: string;
  readonly client: Client;
  readonly releases: readonly EndpointRelease[];
}

/**
 * Reads the releases of an endpoint, and passes them on. Only REST v2 shows them, so that is the
 * default here.
 * @throws Error over GraphQL
 */
export async function withReleases<T>(endpoint: string, use: (found: EndpointReleases) => Promise<T>): Promise<T> {
  const settings = settingsFromEnvironment();
  const client = createClient({ ...settings, api: settings.api ?? "v2" });
  try {
    const id = await endpointId(client, endpoint);
    const releases = await client.endpoints.releases(id, { limit: MOST_RELEASES });
    if (!releases) throw new Error("GraphQL does not show releases: add --api v2");
    return await use({ id, client, releases });
  } finally {
    await client.close();
  }
}
