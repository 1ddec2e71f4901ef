import * as z from "zod";
import { CONTAINER_FIELDS } from "../containers/fields";
import type { ServiceName } from "../contract/limits";
import { ENDPOINT, ENDPOINT_OUTPUTS } from "../endpoints/calls";
import { ENDPOINT_FIELDS, FIELDS, fieldsAt, GRAPHQL_TABLE, KEPT_FIELDS } from "../endpoints/fields";
import { refuseLacked } from "../endpoints/interfaceLimits";
import { unusedVolumeField, withBothForms } from "../endpoints/networkVolumes";
import { isContainerField, newContainer } from "../endpoints/ownContainer";
import type { Endpoint, EndpointInput, EndpointSettings, NewEndpoint } from "../endpoints/record";
import type { ReadableKind } from "../records/listed";
import { templateInput, withContainer } from "./boundTemplate";
import { recordSchema, selectionOf, toInput } from "./format";
import { withKept } from "./keptFields";
import type { Literal } from "./transport";

/** The input of `saveEndpoint`. */
export type SaveInput = Record<string, Literal | undefined>;

/**
 * Returns the fields of an endpoint as a GraphQL selection. `isAbsent` tells which fields the
 * service has rejected.
 */
export function endpointSelection(
  service: ServiceName | undefined,
  isAbsent: (field: string) => boolean = () => false,
): string {
  const fields = fieldsAt(service).filter((field) => !isAbsent(field));
  return selectionOf(GRAPHQL_TABLE, ENDPOINT_OUTPUTS, fields);
}

/** Returns the input of `saveEndpoint` that creates an endpoint. */
export function toCreateInput(settings: NewEndpoint, service: ServiceName | undefined): SaveInput {
  refuseLacked("the endpoint", settings, CONTAINER_FIELDS, { api: "graphql", service });
  const defaults = fieldsAt(service).filter((field) => FIELDS[field].sendsDefault);
  const input = {
    ...Object.fromEntries(defaults.map((field) => [field, FIELDS[field].default])),
    ...standbyOfNew(settings),
    ...settings,
  };
  const container = newContainer(settings);
  const { templateId: _, templateName = settings.name, ...others } = input;
  if (!container) return toSaveInput(input, service, input);
  return { ...toSaveInput(others, service, others), template: templateInput(templateName, container) };
}

/**
 * Returns the standby workers of a new endpoint that scales to zero. The service would otherwise
 * keep one.
 */
function standbyOfNew({ workersMin = 0 }: NewEndpoint): Partial<EndpointSettings> {
  return workersMin === 0 ? { workersStandby: 0 } : {};
}

/**
 * Returns these settings as input of `saveEndpoint`. Settings that cannot be combined with the
 * endpoint's other settings (`all`) are `undefined`.
 * @throws InvalidInputError if a field is set that the service does not support
 */
export function toSaveInput(
  settings: Partial<EndpointSettings>,
  service: ServiceName | undefined,
  all: Partial<EndpointSettings> = settings,
): SaveInput {
  const given = ENDPOINT_FIELDS.filter((field) => !isContainerField(field) && settings[field] !== undefined);
  refuseLacked("the endpoint", settings, given, { api: "graphql", service });
  const present = given.filter((field) => fieldsAt(service).includes(field)).map((field) => [field, settings[field]]);
  const isLacking = (field: keyof EndpointInput) => FIELDS[field].lackedBy?.(all) || field === unusedVolumeField(all);
  return {
    ...toInput(FIELDS, Object.fromEntries(present), service),
    ...Object.fromEntries(ENDPOINT_FIELDS.filter(isLacking).map((field) => [field, undefined])),
  };
}

/**
 * Describes how endpoints appear in the GraphQL responses of a service. Unknown fields that the
 * service adds are kept.
 */
export function readableEndpoint(service: ServiceName | undefined): ReadableKind<Endpoint> {
  const record = recordSchema<Record<string, unknown>>(GRAPHQL_TABLE, ENDPOINT_OUTPUTS, {}, fieldsAt(service));
  const schema = withKept<Endpoint>(record, KEPT_FIELDS).transform(withBothForms).transform(withContainer);
  return { ...ENDPOINT, schema };
}

export const discountSchema = z.looseObject({
  discountFactor: z.number().nullable(),
  type: z.string().nullable(),
  expirationDate: z.string().nullable(),
});
