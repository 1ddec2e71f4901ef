import { type Client, createClient, type Diagnosis } from "../../sdk";
import { linesIn } from "../../sdk/diagnosis/words";
import { commandConnection } from "../connection/connection";
import { type StackFlag, stackEndpointIds } from "../stack";
import { printJson, printLines } from "../terminal";
import { endpointId } from "./endpointId";

export interface ExplainFlags {
  readonly api?: string;
  /** The stack whose endpoints to explain; `true` for the selected stack. */
  readonly stack?: StackFlag;
  readonly logs?: boolean;
  readonly json?: boolean;
}

/** How many endpoints are explained at the same time. Each one takes up to nine requests. */
const AT_ONCE = 2;

/** Prints why endpoints are waiting. Returns the exit code. */
export async function explain(endpoint: string | undefined, flags: ExplainFlags, version: string): Promise<number> {
  const client = createClient(await commandConnection(flags));
  try {
    const wanted = endpoint === undefined ? await stackEndpointIds(flags.stack) : [await endpointId(client, endpoint)];
    let printed = 0;
    // Print each diagnosis as soon as it is ready, because others may be waiting for a slow
    // service.
    const print = (each: Diagnosis) => printLines([...(printed++ > 0 ? [""] : []), ...linesOf(each)]);
    const diagnoses = await diagnoseAll(client, wanted, flags.logs ?? false, flags.json ? () => {} : print);
    if (flags.json) printJson({ version, endpoints: diagnoses }, 2);
    return 0;
  } finally {
    await client.close();
  }
}

async function diagnoseAll(
  client: Client,
  ids: readonly string[],
  logs: boolean,
  onFound: (diagnosis: Diagnosis) => void,
): Promise<Diagnosis[]> {
  const waiting = ids.entries();
  const found: Diagnosis[] = [];
  const work = async () => {
    for (const [index, id] of waiting) {
      found[index] = await client.endpoints.diagnose(id, { logs });
      onFound(found[index]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

function linesOf(diagnosis: Diagnosis): string[] {
  const { endpointId: id, endpointName } = diagnosis;
  const name = endpointName === undefined ? `endpoint ${id}` : `endpoint ${endpointName} (${id})`;
  const [first, ...others] = linesIn(diagnosis);
  return [`${name}: ${first}`, ...others];
}
