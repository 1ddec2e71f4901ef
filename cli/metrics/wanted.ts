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
   * The settings that the program sets, with their values in the state or, if a run is updating the
   * endpoint or was killed while updating it, with that run's values. Secrets are missing.
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
  const updates = pending.filter(({ type }) => type === "updating");
  const inputsOf = new Map(updates.map(({ resource: { urn, inputs } }) => [urn, inputs]));
  const kept = resources.filter((each) => isEndpoint(each.type) && !each.pendingReplacement && !each.delete);
  return kept.flatMap((each) => {
    if (each.id === undefined) return [];
    const settings = settingsOf(each, inputsOf.get(each.urn));
    return [
      { id: each.id, stack: stackIn(each.urn), settings, schedule: each.inputs?.schedule as Schedule | undefined },
    ];
  });
}

/** Returns the stack's name in a URN. */
const stackIn = (urn: string) => urn.split("::")[0]?.replace("urn:pulumi:", "") ?? "";

/** @param inputs the inputs of the run that updates the endpoint. @default no run updates it */
function settingsOf(
  { outputs = {}, ignoreChanges = [] }: StackResource,
  inputs: StackResource["inputs"],
): WantedEndpoint["settings"] {
  const values = { ...outputs, ...inputs };
  const managed = inputs ? Object.keys(inputs) : managedFields(FIELDS, outputs);
  // No run restores settings that the program leaves out or ignores.
  const isSet = (name: string) =>
    managed?.includes(name) !== false && !ignoreChanges.some((each) => each === "*" || each === name);
  // REST v2 does not store idleTimeout for REQUEST_COUNT, which does not use it.
  const isUsed = (name: string) => name !== "idleTimeout" || values.scalerType !== "REQUEST_COUNT";
  return Object.fromEntries(
    Object.keys(COMPARED).flatMap((name) => {
      const value = values[name] ?? DEFAULTS[name];
      return typeof value === "number" && isSet(name) && isUsed(name) ? [[name, value]] : [];
    }),
  );
}
