import { ENDPOINT_DEFAULTS } from "../../sdk/endpoints/fields";
import type { Schedule } from "../../sdk/schedule/schedule";
import { type StackFlag, stackEndpoints } from "../stack";

/** The settings that are compared with those at the service, with the end of the metric's name. */
export const COMPARED = {
  workersMin: "workers_min",
  workersMax: "workers_max",
  scalerValue: "scaler_value",
  idleTimeout: "idle_timeout_seconds",
} as const;

/** An endpoint that a stack's state declares. */
export interface WantedEndpoint {
  readonly id: string;
  /** The stack's name. */
  readonly stack: string;
  /** The settings in the state. Those that are secrets there are missing. */
  readonly settings: Readonly<Partial<Record<keyof typeof COMPARED, number>>>;
  readonly schedule?: Schedule | undefined;
}

const DEFAULTS: Readonly<Record<string, unknown>> = ENDPOINT_DEFAULTS;

/**
 * Returns the endpoints that a stack's state declares.
 * @throws Error if the state cannot be read
 */
export async function wantedEndpoints(stack: StackFlag): Promise<WantedEndpoint[]> {
  const all = await stackEndpoints(stack);
  const kept = all.filter((each) => !each.pendingReplacement && !each.delete);
  return kept.flatMap(({ urn, id, inputs, outputs = {} }) =>
    id === undefined
      ? []
      : [
          {
            id,
            stack: stackIn(urn),
            settings: settingsOf(outputs),
            schedule: inputs?.schedule as Schedule | undefined,
          },
        ],
  );
}

/** Returns the stack's name in a URN. */
const stackIn = (urn: string) => urn.split("::")[0]?.replace("urn:pulumi:", "") ?? "";

function settingsOf(outputs: Readonly<Record<string, unknown>>): WantedEndpoint["settings"] {
  // REST v2 does not store idleTimeout for REQUEST_COUNT, which does not use it.
  const isCompared = (name: string) => name !== "idleTimeout" || outputs.scalerType !== "REQUEST_COUNT";
  return Object.fromEntries(
    Object.keys(COMPARED).flatMap((name) => {
      const value = outputs[name] ?? DEFAULTS[name];
      return typeof value === "number" && isCompared(name) ? [[name, value]] : [];
    }),
  );
}
