import { isObject } from "../../../provider/engine/properties";
import { ENDPOINT_DEFAULTS } from "../../../sdk/endpoints/fields";
import type { EndpointSettings } from "../../../sdk/endpoints/record";
import type { Schedule } from "../../../sdk/endpoints/schedule";
import { didYouMean } from "../../didYouMean";
import { type StackFlag, stackEndpoints } from "../../stack";

/** The endpoint fields that a forecast depends on. */
export type Settings = Pick<
  EndpointSettings,
  "scalerType" | "scalerValue" | "workersMin" | "workersMax" | "idleTimeout" | "gpuIds"
> & {
  readonly flashBoot: boolean;
  /** GPUs per worker (integer, ≥ 1). */
  readonly gpuCount: number;
  /** The execution timeout of jobs, in milliseconds, > 0. @default that of the service */
  readonly executionTimeoutMs?: number;
  /** CPU instances as a comma-separated list; empty for GPU workers. */
  readonly instanceIds: string;
  /** The schedule in complete form. `workersMin` and `workersMax` then hold without it. */
  readonly schedule?: Schedule | undefined;
};

/** An endpoint that a stack or program declares. */
interface Declared {
  readonly urn: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Returns an endpoint's settings as recorded in the stack's state, or `undefined` if the stack has
 * no endpoint.
 */
export async function settingsOfStack(stack: StackFlag, name: string | undefined) {
  const endpoints = (await stackEndpoints(stack)).map(({ urn, inputs, outputs }) => ({
    urn,
    values: { ...outputs, schedule: inputs?.schedule },
  }));
  return endpoints.length === 0 ? undefined : settingsOf(selected(endpoints, name, "the stack"));
}

function selected(endpoints: readonly Declared[], name: string | undefined, where: string): Declared {
  const names = endpoints.map(({ urn }) => urn.split("::").at(-1) ?? "");
  if (name === undefined) {
    if (endpoints.length === 1) return endpoints[0] as Declared;
    throw new Error(`${where} has ${endpoints.length} endpoints: choose one with --endpoint: ${names.join(", ")}`);
  }
  const found = endpoints.find(({ values }, index) => names[index] === name || values.name === name);
  if (found) return found;
  throw new Error(`${where} has no endpoint "${name}".${didYouMean(name, names)} It has: ${names.join(", ")}`);
}

/** Returns the settings, using the service's defaults for those that are not set. */
export function settingsOf({ urn, values }: Declared): Settings {
  const field = <K extends keyof typeof FIELDS>(key: K) => {
    const value = values[key] ?? (UNSET as Record<string, unknown>)[key];
    const given = Array.isArray(value) ? value.join(",") : value;
    if (typeof given === FIELDS[key]) return given;
    throw new Error(`${key} of ${urn} is a secret, or not known before "pulumi up": set it with --set`);
  };
  const instanceIds = field("instanceIds") as string;
  return {
    scalerType: field("scalerType") as Settings["scalerType"],
    scalerValue: field("scalerValue") as number,
    workersMin: field("workersMin") as number,
    workersMax: field("workersMax") as number,
    idleTimeout: field("idleTimeout") as number,
    gpuIds: instanceIds === "" ? (field("gpuIds") as string) : "",
    gpuCount: field("gpuCount") as number,
    instanceIds,
    ...(typeof values.executionTimeoutMs === "number" &&
      values.executionTimeoutMs > 0 && { executionTimeoutMs: values.executionTimeoutMs }),
    flashBoot: typeof values.flashBootType === "string" && values.flashBootType !== "OFF",
    ...(isObject(values.schedule) && { schedule: values.schedule as unknown as Schedule }),
  };
}

const FIELDS = {
  scalerType: "string",
  scalerValue: "number",
  workersMin: "number",
  workersMax: "number",
  idleTimeout: "number",
  gpuIds: "string",
  gpuCount: "number",
  instanceIds: "string",
} as const;

/** The values of settings that an endpoint does not set. */
const UNSET = { ...ENDPOINT_DEFAULTS, gpuCount: 1, instanceIds: "" };
