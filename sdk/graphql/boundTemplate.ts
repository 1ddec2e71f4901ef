import * as z from "zod";
import { CONTAINER_FIELDS, CONTAINER_TABLE } from "../containers/fields";
import type { Container } from "../containers/record";
import type { ReadTemplate } from "../endpoints/calls";
import { NO_CONTAINER } from "../endpoints/ownContainer";
import type { Endpoint, EndpointTemplate } from "../endpoints/record";
import { BusinessRuleError } from "../errors";
import type { Attempt } from "../transport/retryingCall";
import { GRAPHQL_TYPES } from "./containers";
import { recordSchema, toInput } from "./format";
import type { Literal } from "./transport";

/*
 * GraphQL: the container of an endpoint without a template of the program's is a template that
 * `saveEndpoint` creates and binds to the endpoint. The service deletes it with the endpoint.
 */

interface ShownTemplate extends Container {
  readonly id: string;
  readonly name: string;
  readonly boundEndpointId?: string | null;
}

const templateSchema: z.ZodType<ShownTemplate> = recordSchema(
  CONTAINER_TABLE,
  {
    id: { selection: "id", schema: z.string(), v2: null },
    name: { selection: "name", schema: z.string(), v2: null },
    boundEndpointId: { selection: "boundEndpointId", schema: z.string().nullish(), v2: null },
  },
  GRAPHQL_TYPES,
);

/** Returns an endpoint with its container, if its template belongs to it. */
export function withContainer(endpoint: Endpoint): Endpoint {
  const { kept, ...others } = endpoint;
  const { template: shown, ...rest } = kept ?? {};
  const read = templateSchema.safeParse(shown).data;
  if (!read) return { ...endpoint, ...NO_CONTAINER, kept: rest };
  const { id, name, boundEndpointId, ...fields } = read;
  const isBound = boundEndpointId === endpoint.id && id === endpoint.templateId;
  const template: EndpointTemplate = { id, name, isBound };
  const own = Object.fromEntries(CONTAINER_FIELDS.map((field) => [field, fields[field]]));
  return { ...others, ...NO_CONTAINER, ...(isBound && own), template, kept: rest };
}

/** Returns the template in the input of `saveEndpoint` that creates an endpoint. */
export function templateInput(name: string, container: Container): Literal {
  return { ...toInput(CONTAINER_TABLE, { ...container }), name, startSsh: false, startJupyter: false };
}

/**
 * Changes the container of an endpoint: saves its template, if that belongs to the endpoint.
 * @throws BusinessRuleError if it does not
 */
export async function saveContainer(
  readTemplate: ReadTemplate | undefined,
  operation: string,
  { id, name, templateId, template }: Endpoint,
  changes: Partial<Container>,
  attempt: Attempt,
): Promise<void> {
  const read = template?.isBound && readTemplate ? await readTemplate(operation, templateId, attempt) : undefined;
  if (read?.boundEndpointId !== id) {
    throw new BusinessRuleError(
      `endpoint ${id} ("${name}") was not changed: its template ${templateId} does not belong to it, and others may use ` +
        "it, so GraphQL cannot change its image and variables. Change the template and set templateId, or use REST v2 (SERVERLESS_GPU_API=v2)",
    );
  }
  await read.save(operation, changes, attempt);
}
