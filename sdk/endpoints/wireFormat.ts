import * as z from "zod";
import { CONTAINER_FIELDS } from "../containers/fields";
import type { ServiceName } from "../contract/limits";
import { InvalidInputError } from "../errors";
import { type FieldPlace, lackedAt } from "../records/fields";
import { withKept } from "../records/keptFields";
import type { Kind } from "../records/listed";
import { type OutputOnlyField, recordSchema, selectionOf, toInput } from "../records/wireFormat";
import type { Literal } from "../transport/graphql";
import { templateInput, withContainer } from "./boundTemplate";
import { ENDPOINT_FIELDS, FIELDS, fieldsAt, GRAPHQL_TABLE, KEPT_FIELDS } from "./fields";
import { unusedVolumeField, withBothForms } from "./networkVolumes";
import { normalizeName } from "./normalForms";
import { isContainerField, newContainer } from "./ownContainer";
import type { Endpoint, EndpointInput, EndpointSettings, NewEndpoint } from "./record";

type SaveInput = Record<string, Literal | undefined>;

/** The fields of an endpoint that only the service sets. */
export const OUTPUT_ONLY_FIELDS: {
  readonly [K in Exclude<keyof Endpoint, keyof EndpointInput | "template" | "kept">]: OutputOnlyField<Endpoint[K]>;
} = {
  id: { selection: "id", schema: z.string().min(1), v2: "id" },
  // A service of the contract does not have it over GraphQL.
  createdAt: { selection: "", schema: z.string().optional(), v2: "createdAt" },
  pods: {
    selection: "pods { desiredStatus }",
    schema: z
      .array(z.looseObject({ desiredStatus: z.string() }))
      .nullish()
      .transform((pods) => pods ?? []),
    v2: null,
  },
};

/** Returns the fields of an endpoint as a GraphQL selection. */
export function endpointSelection(service: ServiceName | undefined): string {
  return selectionOf(GRAPHQL_TABLE, OUTPUT_ONLY_FIELDS, fieldsAt(service));
}

/** Returns the input of `saveEndpoint` for a new endpoint. */
export function toCreateInput(settings: NewEndpoint, service: ServiceName | undefined): SaveInput {
  refuseLacked("the endpoint", settings, CONTAINER_FIELDS, { api: "graphql", service });
  const defaults = fieldsAt(service).filter((field) => FIELDS[field].sendsDefault);
  const input = { ...Object.fromEntries(defaults.map((field) => [field, FIELDS[field].default])), ...settings };
  const container = newContainer(settings);
  const { templateId: _, templateName = settings.name, ...others } = input;
  if (!container) return toSaveInput(input, service, input);
  return { ...toSaveInput(others, service, others), template: templateInput(templateName, container) };
}

/**
 * Returns these settings as input of `saveEndpoint`. Those that the endpoint cannot have together
 * with `all` its settings are `undefined`.
 * @throws InvalidInputError if a field is set that the service does not have
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
 * Refuses values that an interface of the service does not have.
 * @throws InvalidInputError if there are any
 */
export function refuseLacked(
  what: string,
  settings: Partial<EndpointSettings>,
  sent: readonly (keyof EndpointInput)[],
  place: FieldPlace,
): void {
  const problems = sent.flatMap((property) => {
    const message = lackedAt(FIELDS[property], settings[property], place);
    return message === undefined ? [] : [{ property, message }];
  });
  if (problems.length > 0) throw new InvalidInputError(what, problems);
}

/** The schema of an endpoint in a response. Fields that the service adds are kept. */
export const endpointSchema: z.ZodType<Endpoint> = withKept<Endpoint>(
  recordSchema(GRAPHQL_TABLE, OUTPUT_ONLY_FIELDS),
  KEPT_FIELDS,
)
  .transform(withBothForms)
  .transform(withContainer);

export const ENDPOINT: Kind<Endpoint> = { noun: "endpoint", one: "an endpoint", schema: endpointSchema, normalizeName };

export const discountSchema = z.looseObject({
  discountFactor: z.number().nullable(),
  type: z.string().nullable(),
  expirationDate: z.string().nullable(),
});
