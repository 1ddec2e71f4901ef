import * as z from "zod";
import { CONTAINER_FIELDS, CONTAINER_TABLE } from "../containers/fields";
import type { Container } from "../containers/record";
import type { BoundTemplate } from "../endpoints/calls";
import { NO_CONTAINER, splitChanges } from "../endpoints/ownContainer";
import type { Endpoint, EndpointSettings, EndpointTemplate } from "../endpoints/record";
import { BusinessRuleError } from "../errors/errors";
import { unshownProperty } from "../records/fields";
import type { GatheredRead } from "../records/singleReads";
import type { Attempt } from "../transport/call";
import type { ObservedOptions } from "../transport/requestOptions";
import { GRAPHQL_TYPES } from "./containers";
import { recordSchema, toInput } from "./format";
import type { Literal } from "./transport";

/*
 * Over GraphQL, if an endpoint uses none of the program's templates, its container is a template
 * that `saveEndpoint` creates and binds to the endpoint. The service deletes it with the endpoint.
 */

/** The template of an endpoint, as read for a change. */
type ReadTemplate = EndpointTemplate & { readonly read?: BoundTemplate | undefined };

interface ShownTemplate extends Container {
  readonly id: string;
  readonly name: string;
  readonly boundEndpointId?: string | null;
  readonly unshown?: readonly string[];
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

/**
 * Returns an endpoint. If the endpoint has a template of its own, the result includes the container
 * settings of that template.
 */
export function withContainer(endpoint: Endpoint): Endpoint {
  const { kept, ...others } = endpoint;
  const { template: shown, ...rest } = kept ?? {};
  const read = templateSchema.safeParse(shown).data;
  if (!read) return { ...endpoint, ...NO_CONTAINER, kept: rest };
  const { id, name, boundEndpointId, ...fields } = read;
  const isBound = boundEndpointId === endpoint.id && id === endpoint.templateId;
  const template: EndpointTemplate = { id, name, isBound };
  const own = Object.fromEntries(CONTAINER_FIELDS.map((field) => [field, fields[field]]));
  const unshown = [...(endpoint.unshown ?? []), ...((isBound && read.unshown) || [])];
  return { ...others, ...NO_CONTAINER, ...(isBound && own), template, kept: rest, ...unshownProperty(unshown) };
}

/** Returns the template to include in the input of `saveEndpoint` when an endpoint is created. */
export function templateInput(name: string, container: Container): Literal {
  return { ...toInput(CONTAINER_TABLE, { ...container }), name, startSsh: false, startJupyter: false };
}

/**
 * Returns the endpoint. If the change affects the endpoint's container, the result includes the
 * template that belongs to the endpoint.
 */
export async function withBoundTemplate(
  read: GatheredRead<BoundTemplate>,
  before: Endpoint,
  changes: Partial<EndpointSettings>,
  options: ObservedOptions,
): Promise<Endpoint> {
  const { template, templateId } = before;
  if (!template?.isBound || !splitChanges(changes).container) return before;
  const withRead: ReadTemplate = { ...template, read: await read(templateId, options) };
  return { ...before, template: withRead };
}

/**
 * Changes the container of an endpoint by saving the template that belongs to it.
 * @returns the endpoint with the changes
 * @throws BusinessRuleError if the template does not belong to the endpoint
 */
export async function saveContainer(
  operation: string,
  before: Endpoint,
  changes: Partial<Container>,
  attempt: Attempt,
): Promise<Endpoint> {
  const { id, name, templateId } = before;
  const { read, ...template }: Partial<ReadTemplate> = before.template ?? {};
  if (read?.boundEndpointId !== id) {
    throw new BusinessRuleError(
      `endpoint ${id} ("${name}") was not changed: its template ${templateId} does not belong to it, and other ` +
        "endpoints may use it, so GraphQL cannot change its image and variables. Change the template and set templateId, or use REST v2 (SERVERLESS_GPU_API=v2)",
    );
  }
  await read.save(operation, changes, attempt);
  return { ...before, ...changes, template: template as EndpointTemplate };
}
