import { managedFields } from "../../provider/fields/managed";
import { ENDPOINT_DEFAULTS, FIELDS } from "../../sdk/endpoints/fields";
import type { Schedule } from "../../sdk/endpoints/schedule";
import { isEndpoint, type StackFlag, type StackResource, stackState } from "../stack";

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
  /**
   * The settings that the program sets, as they are in the state. Secrets are missing, and all
   * settings of an endpoint that a run is changing, or has not finished to change.
   */
  readonly settings: Readonly<Partial<Record<keyof typeof COMPARED, number>>>;
  readonly schedule?: Schedule | undefined;
}

const DEFAULTS: Readonly<Record<string, unknown>> = ENDPOINT_DEFAULTS;

/**
 * Returns the endpoints that a stack's state declares.
 * @throws Error if the state cannot be read
 */
export async function wantedEndpoints(stack: StackFlag): Promise<WantedEndpoint[]> {
  const { resources, pending } = await stackState(stack);
  const busy = new Set(pending.map(({ resource }) => resource.urn));
  const kept = resources.filter((each) => isEndpoint(each.type) && !each.pendingReplacement && !each.delete);
  return kept.flatMap((each) => {
    if (each.id === undefined) return [];
    const settings = busy.has(each.urn) ? {} : settingsOf(each);
    const schedule = each.inputs?.schedule as Schedule | undefined;
    return [{ id: each.id, stack: stackIn(each.urn), settings, schedule }];
  });
}

/** Returns the stack's name in a URN. */
const stackIn = (urn: string) => urn.split("::")[0]?.replace("urn:pulumi:", "") ?? "";

function settingsOf({ outputs = {}, ignoreChanges = [] }: StackResource): WantedEndpoint["settings"] {
  const managed = managedFields(FIELDS, outputs);
  // No run restores what the program leaves out or ignores.
  const isSet = (name: string) =>
    managed?.includes(name) !== false && !ignoreChanges.some((each) => each === "*" || each === name);
  // REST v2 does not store idleTimeout for REQUEST_COUNT, which does not use it.
  const isUsed = (name: string) => name !== "idleTimeout" || outputs.scalerType !== "REQUEST_COUNT";
  return Object.fromEntries(
    Object.keys(COMPARED).flatMap((name) => {
      const value = outputs[name] ?? DEFAULTS[name];
      return typeof value === "number" && isSet(name) && isUsed(name) ? [[name, value]] : [];
    }),
  );
}
