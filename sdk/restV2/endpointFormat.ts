import * as z from "zod";
import { CAPABILITIES } from "../contract/capabilities";
import { ENDPOINT_OUTPUTS } from "../endpoints/calls";
import { ENDPOINT_DEFAULTS, ENDPOINT_FIELDS, FIELDS } from "../endpoints/fields";
import { type LimitedSettings, limitProblems, refuseLacked } from "../endpoints/interfaceLimits";
import { normalizeSet } from "../endpoints/normalForms";
import { isContainerField, newContainer } from "../endpoints/ownContainer";
import type { Endpoint, EndpointSettings, NewEndpoint } from "../endpoints/record";
import { InvalidInputError } from "../errors/errors";
import type { DataCenters } from "./dataCenters";
import { changedInV2, settingsInV2, V2_TYPES, v2Body, v2RecordSchema } from "./format";

const PLACE = { api: "v2" } as const;

const TYPES = {
  ...V2_TYPES,
  instances: z.array(z.looseObject({ id: z.string(), vcpuCount: z.number(), memory: z.number().nullish() })),
};

/**
 * The schema of an endpoint in a REST v2 response. The response does not contain the endpoint's
 * template or pods.
 */
export const endpointV2Schema = v2RecordSchema<Endpoint>(FIELDS, ENDPOINT_OUTPUTS, TYPES);

/** Returns the settings of an endpoint that a response shows, even if it lacks other fields. */
export function endpointSettingsIn(body: unknown): Partial<Endpoint> {
  return settingsInV2(FIELDS, body, TYPES);
}

/**
 * Returns the body that creates an endpoint.
 * @throws InvalidInputError if REST v2 does not accept a value
 */
export function createBody(settings: NewEndpoint, dataCenters: DataCenters): Record<string, unknown> {
  const container = newContainer(settings);
  const wanted: EndpointSettings = { ...ENDPOINT_DEFAULTS, ...settings, ...container };
  refuseLacked("the endpoint", wanted, ENDPOINT_FIELDS, PLACE);
  refuseUnsupported(wanted);
  // Leave out empty values, because they mean the same as missing values.
  const sent = ENDPOINT_FIELDS.filter((field) => wanted[field] !== "" && (container || !isContainerField(field)));
  return v2Body(FIELDS, { ...wanted, locations: dataCenters.idsOf(wanted.locations).join(",") }, sent);
}

/**
 * Returns the body that changes an endpoint. The body contains only the fields that differ, except
 * that a scaler or a selection of GPUs is always sent as a whole.
 * @throws InvalidInputError if REST v2 does not accept a value
 */
export function patchBody(
  before: Endpoint,
  changes: Partial<EndpointSettings>,
  dataCenters: DataCenters,
): Record<string, unknown> {
  const { locations = before.locations } = changes;
  const places = locations === before.locations ? locations : normalizeSet(dataCenters.idsOf(locations));
  const sent = changedInV2(FIELDS, before, { ...changes, locations: places });
  const after = { ...before, ...changes, locations: places };
  const { scalerType, type, idleTimeout, scalerValue, allowedCudaVersions, minCudaVersion } = after;
  refuseLacked(
    "the endpoint",
    changes,
    ENDPOINT_FIELDS.filter((field) => after[field] !== before[field]),
    PLACE,
  );
  const changesCuda = sent.includes("allowedCudaVersions") || sent.includes("minCudaVersion");
  refuseUnsupported({
    scalerType,
    type,
    ...(changesCuda && { allowedCudaVersions, minCudaVersion }),
    ...(sent.includes("idleTimeout") && { idleTimeout }),
    ...(sent.includes("scalerValue") && { scalerValue }),
  });
  // An endpoint with its own container has no template.
  const isSent = (field: string) => field !== "templateId" || after.templateId !== "";
  return v2Body(FIELDS, after, sent.filter(isSent));
}

/**
 * Throws an error if REST v2 does not accept values that GraphQL accepts. `sent` are the values to
 * send.
 */
function refuseUnsupported(sent: LimitedSettings): void {
  const problems = limitProblems(CAPABILITIES.v2.endpointLimits, sent);
  if (problems.length > 0) throw new InvalidInputError("the endpoint", problems);
}
