import * as z from "zod";
import { CAPABILITIES } from "../contract/capabilities";
import { EXECUTION_TIMEOUT_MS } from "../contract/limits";
import { InvalidInputError } from "../errors";
import { changedInV2, v2Body, v2RecordSchema } from "../records/v2Format";
import type { DataCenters } from "./dataCenters";
import { ENDPOINT_DEFAULTS, FIELDS, gpuSelection } from "./fields";
import { type LimitedSettings, limitProblems } from "./interfaceLimits";
import { normalizeLocations } from "./normalForms";
import type { Endpoint, EndpointSettings, NewEndpoint } from "./record";
import { OUTPUT_ONLY_FIELDS } from "./wireFormat";

const texts = z.array(z.string()).nullish();

const gpuSchema = z
  .looseObject({ pools: texts, excludedTypes: texts })
  .transform(({ pools, excludedTypes }) => [...(pools ?? []), ...(excludedTypes ?? []).map((type) => `-${type}`)]);

const ownRegistryAuthId = {
  selection: "",
  schema: z
    .string()
    .nullish()
    .transform((id) => id ?? undefined),
  v2: "registry",
};

/** The schema of an endpoint in a response of REST v2. Its template and its pods are in other places, or nowhere. */
export const endpointV2Schema = v2RecordSchema<Endpoint>(
  FIELDS,
  { ...OUTPUT_ONLY_FIELDS, ownRegistryAuthId },
  { gpuIds: gpuSchema },
);

/**
 * Returns the body that creates an endpoint.
 * @throws InvalidInputError if REST v2 does not accept a value
 */
export function createBody(settings: NewEndpoint, dataCenters: DataCenters): Record<string, unknown> {
  const wanted: EndpointSettings = { ...ENDPOINT_DEFAULTS, ...settings };
  refuseUnsupported(wanted);
  const body = v2Body(FIELDS, { ...wanted, locations: dataCenters.idsOf(wanted.locations).join(",") });
  // Without a timeout, the service may set none.
  return {
    ...body,
    type: "QUEUE",
    gpu: { ...gpuSelection(wanted.gpuIds), count: 1 },
    timeout: EXECUTION_TIMEOUT_MS.default,
  };
}

/**
 * Returns the body that changes an endpoint: only what differs. A scaler and a selection of GPUs are wholes.
 * @throws InvalidInputError if REST v2 does not accept a value
 */
export function patchBody(
  before: Endpoint,
  changes: Partial<EndpointSettings>,
  dataCenters: DataCenters,
): Record<string, unknown> {
  const { locations = before.locations } = changes;
  const places = locations === before.locations ? locations : normalizeLocations(dataCenters.idsOf(locations));
  const sent = changedInV2(FIELDS, before, { ...changes, locations: places });
  const after = { ...before, ...changes, locations: places };
  const { scalerType, idleTimeout, scalerValue } = after;
  refuseUnsupported({
    scalerType,
    ...(sent.includes("idleTimeout") && { idleTimeout }),
    ...(sent.includes("scalerValue") && { scalerValue }),
  });
  return v2Body(FIELDS, after, sent);
}

/** Refuses values that GraphQL accepts and REST v2 does not. `sent` are those that are sent. */
function refuseUnsupported(sent: LimitedSettings): void {
  const problems = limitProblems(CAPABILITIES.v2.endpointLimits, sent);
  if (problems.length > 0) throw new InvalidInputError("the endpoint", problems);
}
