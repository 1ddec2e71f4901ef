import { type Client, createClient, type EndpointRelease } from "../../sdk";
import { commandConnection, requestsOverV2 } from "../connection/connection";
import { readInTime } from "../connection/readInTime";
import { endpointId } from "../explain/endpointId";

/** The maximum number of releases to read. No endpoint has more. */
const MOST_RELEASES = 10_000;

/** The releases of an endpoint, newest first. */
interface EndpointReleases {
  readonly id: string;
  readonly client: Client;
  readonly releases: readonly EndpointRelease[];
}

/** The parts of a command that `withReleases` needs. */
interface ReleasesCommand {
  /** The value of the option `--api`. */
  readonly api: string | undefined;
  /** The command and its arguments, used in the advice to switch to REST v2. */
  readonly command: readonly string[];
}

/**
 * Reads the releases of an endpoint and passes them to a function.
 * @throws Error over GraphQL, which does not show releases
 */
export async function withReleases<T>(
  endpoint: string,
  { api, command }: ReleasesCommand,
  use: (found: EndpointReleases) => Promise<T>,
): Promise<T> {
  const client = createClient(await commandConnection({ api }));
  try {
    const id = await endpointId(client, endpoint);
    const releases = await readInTime(`the releases of endpoint ${id}`, (limits) =>
      client.endpoints.releases(id, { ...limits, limit: MOST_RELEASES }),
    );
    if (!releases) throw new Error(`only REST v2 shows releases. ${requestsOverV2(command)}`);
    return await use({ id, client, releases });
  } finally {
    await client.close();
  }
}
