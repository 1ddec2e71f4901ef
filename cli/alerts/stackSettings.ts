import { ENDPOINT_DEFAULTS } from "../../sdk/endpoints/fields";
import { NO_ENDPOINT, type StackFlag, stackEndpoints } from "../stack";

/** The settings of an endpoint, as recorded in state. */
export interface AlertSettings {
  readonly id: string;
  readonly name: string;
  readonly workersMin: number;
  readonly workersMax: number;
  readonly scalerType: string;
  readonly scalerValue: number;
  /** In seconds. */
  readonly idleTimeout: number;
  /** `QUEUE` or `LOAD_BALANCER`. */
  readonly type: string;
}

const DEFAULTS: Readonly<Record<string, unknown>> = ENDPOINT_DEFAULTS;

/**
 * Returns the settings of the endpoints that a stack's state declares.
 * @throws Error if the state cannot be read, has no endpoint, or has a setting as a secret
 */
export async function stackSettings(stack: StackFlag): Promise<AlertSettings[]> {
  const all = await stackEndpoints(stack);
  const endpoints = all.filter((each) => !each.pendingReplacement && !each.delete);
  const settings = endpoints.flatMap(({ id, outputs = {} }) => (id === undefined ? [] : [settingsOf(id, outputs)]));
  if (settings.length === 0) throw new Error(NO_ENDPOINT);
  return settings;
}

function settingsOf(id: string, outputs: Readonly<Record<string, unknown>>): AlertSettings {
  const read = (name: string) => outputs[name] ?? DEFAULTS[name];
  const refused = (name: string) =>
    new Error(`${name} of endpoint ${id} is a secret in the state, so that no rule can be written for it`);
  const number = (name: string): number => {
    const value = read(name);
    if (typeof value !== "number") throw refused(name);
    return value;
  };
  const text = (name: string): string => {
    const value = read(name);
    if (typeof value !== "string") throw refused(name);
    return value;
  };
  return {
    id,
    name: text("name"),
    type: text("type"),
    scalerType: text("scalerType"),
    workersMin: number("workersMin"),
    workersMax: number("workersMax"),
    scalerValue: number("scalerValue"),
    idleTimeout: number("idleTimeout"),
  };
}
