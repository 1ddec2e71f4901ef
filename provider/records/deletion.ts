import type { DeleteUnusedOptions } from "../../sdk/records/deleteUnused";
import type { Connection } from "../connection/connection";
import type { ProviderClient } from "../connection/providerClient";
import { cancelled } from "../engine/cancellation";
import { log, waitLogger } from "../engine/log";
import type { Properties } from "../engine/properties";

/** The client's delete method for a kind of record that may be in use by others. */
interface Deletable {
  delete(id: string, options: DeleteUnusedOptions): Promise<void>;
}

/**
 * Returns a function that deletes a record that may be in use by others. The function waits until
 * RunPod no longer reports the record as in use.
 * @param loss returns a description of what the deletion loses. It is logged during the deletion,
 * because a preview does not ask the provider
 */
export function whenUnused(
  { noun }: { readonly noun: string },
  records: (client: ProviderClient) => Deletable,
  loss?: (outputs: Properties) => string,
) {
  return ({ client }: Connection, id: string, outputs: Properties, onAbsent: () => void): Promise<void> => {
    const name = String(outputs.name ?? id);
    const logWait = waitLogger(name);
    return records(client).delete(id, {
      ...(typeof outputs.deleteTimeout === "number" ? { releaseTimeoutMs: outputs.deleteTimeout * 1000 } : {}),
      signal: cancelled,
      onWait: ({ elapsedMs, reason }) =>
        logWait(
          `waiting until the service releases the ${noun} (up to 2 minutes after its last use): ${reason}`,
          elapsedMs,
        ),
      onAbsent,
      known: outputs,
      ...(loss && { onDelete: () => log(name, `deletes ${noun} ${id}: ${loss(outputs)}`) }),
    });
  };
}
