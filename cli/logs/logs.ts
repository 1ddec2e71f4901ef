import { createClient } from "../../sdk";
import { settingsFromEnvironment } from "../../sdk/config";
import { endpointId } from "../explain/endpointId";

/** The options of the command. */
export interface LogsFlags {
  readonly follow?: boolean;
  readonly worker?: string;
  readonly source?: "container" | "system";
  readonly tail?: number;
  readonly json?: boolean;
}

/** Prints the lines of the workers' logs. Returns the exit code. */
export async function logs(endpoint: string, { follow, worker, source, tail, json }: LogsFlags): Promise<number> {
  const settings = settingsFromEnvironment();
  // Only REST v2 has logs, so it is the default here.
  const client = createClient({ ...settings, api: settings.api ?? "v2" });
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  process.once("SIGINT", interrupt);
  try {
    const options = { follow, workerId: worker, source, tail, signal: stop.signal };
    for await (const line of client.endpoints.logs(await endpointId(client, endpoint), options)) {
      const { workerId, ts, source: from, line: text } = line;
      process.stdout.write(json ? `${JSON.stringify(line)}\n` : `${ts} ${workerId} ${from}: ${text}\n`);
    }
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return 0;
    throw error;
  } finally {
    process.removeListener("SIGINT", interrupt);
    await client.close();
  }
}
