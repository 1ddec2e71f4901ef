import { catalog } from "./rows/catalogRows";
import { remove, save } from "./rows/endpointRows";
import { graphql, myself, rest, server } from "./rows/interfaceRows";
import type { Level } from "./rows/level";
import { loadBalancer } from "./rows/loadBalancerRows";
import { queue } from "./rows/queueRows";
import { registry, secret, template, volume } from "./rows/recordRows";
import { restV2 } from "./rows/restV2Rows";
import { worker, workerFaults, workers } from "./rows/workerRows";

export type { Level } from "./rows/level";

/**
 * The behavior to emulate: that of the published contract, or that observed at a running service.
 */
export type Profile = "contract" | "observed";

/**
 * The emulator's behavior, one row per rule, with the evidence for it. Every row needs a test with
 * the row's id in its title, such as `[graphql.wrong-key] …`.
 * `docs/contributing/emulator-fidelity.md` is generated from this table.
 */
export const fidelity = {
  ...server,
  ...graphql,
  ...save,
  ...template,
  ...volume,
  ...registry,
  ...secret,
  ...worker,
  ...workerFaults,
  ...remove,
  ...myself,
  ...rest,
  ...restV2,
  ...queue,
  ...catalog,
  ...loadBalancer,
  ...workers,
};

/** The id of a row, in the form `api.rule`. */
export type FidelityId = keyof typeof fidelity;

/** Returns the evidence for a row. */
export function levelOf(id: FidelityId): Level {
  return fidelity[id].level;
}
