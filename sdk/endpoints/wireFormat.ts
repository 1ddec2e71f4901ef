import * as z from "zod";
import type { ServiceName } from "../contract/limits";
import { InvalidInputError } from "../errors";
import { withKept } from "../records/keptFields";
import type { Kind } from "../records/listed";
import { type OutputOnlyField, recordSchema, selectionOf, toInput } from "../records/wireFormat";
import type { Literal } from "../transport/graphql";
import { ENDPOINT_FIELDS, FIELDS, fieldsAt, KEPT_FIELDS } from "./fields";
import { normalizeName } from "./normalForms";
import type { Endpoint, EndpointInput, EndpointSettings } from "./record";

/** The fields of an endpoint that only the service sets. */
export const OUTPUT_ONLY_FIELDS: {
  readonly [K in Exclude<keyof Endpoint, keyof EndpointInput | "ownRegistryAuthId" | "kept">]: OutputOnlyField<
    Endpoint[K]
  >;
} = {
  id: { selection: "id", schema: z.string().min(1), v2: "id" },
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
  return selectionOf(FIELDS, OUTPUT_ONLY_FIELDS, fieldsAt(service));
}

/**
 * Returns the input of `saveEndpoint`: every field that is set.
 * @throws InvalidInputError if a field is set that the service does not have
 */
export function toSaveInput(
  settings: Partial<EndpointSettings>,
  service: ServiceName | undefined,
): Record<string, Literal | undefined> {
  const isAbsent = (field: keyof EndpointInput) => !fieldsAt(service).includes(field);
  const given = ENDPOINT_FIELDS.filter((field) => settings[field] !== undefined);
  const problems = given
    .filter((field) => isAbsent(field) && settings[field] !== FIELDS[field].default)
    .map((property) => ({ property, message: `exists only at the service ${FIELDS[property].onlyAt}` }));
  if (problems.length > 0) throw new InvalidInputError("the endpoint", problems);
  const present = given.filter((field) => !isAbsent(field)).map((field) => [field, settings[field]]);
  return toInput(FIELDS, Object.fromEntries(present), service);
}

/** The schema of an endpoint in a response. Fields that the service adds are kept. */
export const endpointSchema = withKept<Endpoint>(recordSchema(FIELDS, OUTPUT_ONLY_FIELDS), KEPT_FIELDS);

export const ENDPOINT: Kind<Endpoint> = { noun: "endpoint", one: "an endpoint", schema: endpointSchema, normalizeName };

export const discountSchema = z.looseObject({
  discountFactor: z.number().nullable(),
  type: z.string().nullable(),
  expirationDate: z.string().nullable(),
});
