import * as z from "zod";
import { CONTAINER_TABLE } from "../containers/fields";

/** The schemas for container fields in GraphQL responses whose values are not strings. */
export const GRAPHQL_TYPES = {
  env: z
    .array(z.looseObject({ key: z.string(), value: z.string().nullable() }))
    .nullish()
    .transform((list) => Object.fromEntries((list ?? []).map(({ key, value }) => [key, value ?? ""]))),
  ports: z
    .string()
    .nullish()
    .transform((ports) => CONTAINER_TABLE.ports.normalize(ports ?? "")),
};
