import { createClient } from "../../sdk";
import { commandConnection, requestsOverV2 } from "../connection/connection";
import { endpointId } from "../explain/endpointId";
import { printJson, printLines, say } from "../terminal";

export interface LogsFlags {
  readonly api?: string;
  readonly follow?: boolean;
  readonly worker?: string;
  readonly source?: "container" | "system";
  readonly tail?: number;
  readonly json?: boolean;
}

/** Prints log lines of an endpoint's workers. Returns the exit code. */
export async function logs(endpoint: string, flags: LogsFlags): Promise<number> {
  const { api, follow, worker, source, tail, json } = flags;
  const connection = await commandConnection({ api });
  if (connection.api !== "v2")
    throw new Error(`only REST v2 has logs of workers. ${requestsOverV2(["logs", endpoint])}`);
  const client = createClient({ ...connection, onWarning: ({ message }) => say(message) });
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  process.once("SIGINT", interrupt);
  try {
    const options = { follow, workerId: worker, source, tail, signal: stop.signal };
    for await (const line of client.endpoints.logs(await endpointId(client, endpoint), options)) {
      const { workerId, ts, source: from, line: text } = line;
      if (json) printJson(line);
      else printLines([`${ts} ${workerId} ${from}: ${text}`]);
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
