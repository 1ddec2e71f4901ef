import { managedFields } from "../../provider/fields/managed";
import { ENDPOINT_DEFAULTS, FIELDS } from "../../sdk/endpoints/fields";
import type { Schedule } from "../../sdk/endpoints/schedule";
import { isEndpoint, type PendingOperation, type StackFlag, type StackResource, stackState } from "../stack";

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
   * endpoint or was killed while updating it, with that run's values. Secrets are missing, and so
   * are the worker counts while a run deletes the endpoint or replaces its workers.
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
  const operations = new Map(pending.map((operation) => [operation.resource.urn, operation]));
  const kept = resources.filter((each) => isEndpoint(each.type) && !each.pendingReplacement && !each.delete);
  return kept.flatMap((each) => {
    if (each.id === undefined) return [];
    const settings = settingsOf(each, operations.get(each.urn));
    return [
      { id: each.id, stack: stackIn(each.urn), settings, schedule: each.inputs?.schedule as Schedule | undefined },
    ];
  });
}

/** Returns the stack's name in a URN. */
const stackIn = (urn: string) => urn.split("::")[0]?.replace("urn:pulumi:", "") ?? "";

/** @param operation what a run does with the endpoint. @default nothing */
function settingsOf(resource: StackResource, operation: PendingOperation | undefined): WantedEndpoint["settings"] {
  const { outputs = {}, ignoreChanges = [] } = resource;
  const inputs = operation?.type === "updating" ? operation.resource.inputs : undefined;
  const values = { ...outputs, ...inputs };
  const managed = inputs ? Object.keys(inputs) : managedFields(FIELDS, outputs);
  // No run restores settings that the program leaves out or ignores.
  const isSet = (name: string) =>
    managed?.includes(name) !== false &&
    !ignoreChanges.some((each) => each === "*" || each === name) &&
    !(name.startsWith("workers") && operation && isDraining(resource, operation));
  // REST v2 does not store idleTimeout for REQUEST_COUNT, which does not use it.
  const isUsed = (name: string) => name !== "idleTimeout" || values.scalerType !== "REQUEST_COUNT";
  return Object.fromEntries(
    Object.keys(COMPARED).flatMap((name) => {
      const value = values[name] ?? DEFAULTS[name];
      return typeof value === "number" && isSet(name) && isUsed(name) ? [[name, value]] : [];
    }),
  );
}

/**
 * Returns `true` if an operation scales the endpoint to zero until its workers have stopped, which
 * may take as long as their jobs.
 */
function isDraining({ inputs: before }: StackResource, { type, resource: { inputs } }: PendingOperation): boolean {
  if (type === "deleting") return true;
  return inputs?.recycleWorkers === true && inputs.templateRevision !== before?.templateRevision;
}
