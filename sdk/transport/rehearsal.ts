import { isLoopback } from "../contract/loopback";
import { ConfigurationError } from "../errors/errors";

/** The environment variables that say where a rehearsal runs. */
export const REHEARSAL_VARIABLES = {
  url: "SERVERLESS_GPU_REHEARSAL_URL",
  apiKey: "SERVERLESS_GPU_REHEARSAL_KEY",
} as const;

/** The emulator of a rehearsal. */
interface RehearsalTarget {
  readonly url: string;
  readonly apiKey: string;
}

/**
 * Returns the emulator of the rehearsal in which this process runs, or `undefined` outside of a
 * rehearsal.
 * @throws ConfigurationError if the URL or the key is missing, or if the URL is of another machine
 */
export function currentRehearsal(environment: NodeJS.ProcessEnv = process.env): RehearsalTarget | undefined {
  const { url: urlVariable, apiKey: keyVariable } = REHEARSAL_VARIABLES;
  const advice = `Outside of a rehearsal, unset ${urlVariable} and ${keyVariable}`;
  const [url, apiKey] = [environment[urlVariable]?.trim(), environment[keyVariable]?.trim()];
  if (url === undefined && apiKey === undefined) return undefined;
  if (!url || !apiKey) {
    throw new ConfigurationError(
      `nothing is sent, because ${url ? keyVariable : urlVariable} is missing, which a rehearsal needs. ${advice}`,
    );
  }
  if (!URL.canParse(url) || !isLoopback(url))
    throw new ConfigurationError(
      `nothing is sent, because ${urlVariable} is not the URL of an emulator on this machine. ${advice}`,
    );
  return { url: new URL(url).origin, apiKey };
}

/**
 * Rejects a request to any host other than the emulator while this process runs in a rehearsal.
 * @throws ConfigurationError if the request would leave the rehearsal
 */
export function refuseOtherHosts(origin: string | URL | undefined): void {
  const rehearsal = currentRehearsal();
  if (rehearsal === undefined) return;
  const host = origin === undefined ? "a host without a name" : new URL(origin).origin;
  if (host === rehearsal.url) return;
  throw new ConfigurationError(
    `no request was sent to ${host}, because ${REHEARSAL_VARIABLES.url} is set, and a rehearsal uses only the emulator at ${rehearsal.url}`,
  );
}
