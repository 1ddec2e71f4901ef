import type { Endpoints } from "../endpoints/endpoints";
import { createWithTemplate } from "../endpoints/ownTemplate";
import {
  containerOfBody,
  EMPTY_CONTAINER,
  type EndpointContainer,
  templateOfContainer,
} from "../model/containerFields";
import { ENDPOINT_FIELDS, type EndpointRecord } from "../model/endpointFields";
import { randomId } from "../model/random";
import { changedByBody, createdByBody } from "../model/v2Form";
import { readLagMs } from "../records/history";
import type { Templates } from "../templates/templates";
import { assertBody } from "./endpointRules";
import { type EndpointBody, shownEndpoint } from "./endpointShape";
import type { V2Call } from "./handler";
import { pageOf } from "./pages";
import { findOrRefuse } from "./problem";

/** The parts of the account that REST v2 needs for endpoints. */
export interface EndpointParts {
  readonly endpoints: Endpoints;
  readonly templates: Templates;
  readonly random: () => number;
  /** The data centers in the catalog. */
  readonly dataCenters: readonly string[];
}

/** Returns the operations on endpoints. */
export function endpointHandlers(parts: EndpointParts) {
  const { endpoints, templates, random, dataCenters } = parts;
  const shown = (record: Readonly<EndpointRecord>, origin: string) =>
    shownEndpoint(record, containerNow(parts, record), origin);

  return {
    listEndpoints({ listLagMs, query, origin }: V2Call) {
      const newestFirst = [...endpoints.list(listLagMs)].reverse();
      const { items, pagination } = pageOf(
        newestFirst.map(({ record }) => record),
        query,
      );
      return { endpoints: items.map((record) => shown(record, origin)), pagination };
    },
    createEndpoint({ body, origin }: V2Call<EndpointBody>) {
      assertBody(body, undefined, dataCenters);
      const container = ownContainer(templates, body) ?? EMPTY_CONTAINER;
      const sent = createdByBody(ENDPOINT_FIELDS, body);
      const fields = { ...sent, gpuIds: sent.gpuIds ?? "" };
      const { record } =
        body.templateId === undefined
          ? createWithTemplate(templates, ownTemplate(fields.name, container, random), true, (templateId) =>
              endpoints.create({ ...fields, templateId }),
            )
          : endpoints.create(fields, undefined, { container });
      return shown(record, origin);
    },
    getEndpoint: ({ id, listLagMs, origin }: V2Call) => shown(recordOf(parts, id, listLagMs), origin),
    updateEndpoint({ id, body, origin }: V2Call<EndpointBody>) {
      const before = recordOf(parts, id);
      assertBody(body, before, dataCenters);
      const container = ownContainer(templates, body, containerNow(parts, before));
      const changesTemplate = container && body.templateId === undefined && hasOwnTemplate(templates, before);
      const own = container && !changesTemplate ? { container } : {};
      const { record } = endpoints.patch(id, changedByBody(ENDPOINT_FIELDS, body), own);
      if (changesTemplate) templates.change(record.templateId, templateOfContainer(container));
      return shown(record, origin);
    },
    deleteEndpoint({ id }: V2Call) {
      recordOf(parts, id);
      endpoints.remove(id);
      return undefined;
    },
  };
}

function recordOf({ endpoints }: EndpointParts, id: string, listLagMs?: number): Readonly<EndpointRecord> {
  return findOrRefuse(
    endpoints.list(readLagMs(listLagMs)).map(({ record }) => record),
    id,
  );
}

function containerNow({ templates }: EndpointParts, record: Readonly<EndpointRecord>): EndpointContainer {
  return record.container ?? templates.containerOf(record.templateId);
}

/** Returns the container that a body describes; `undefined` if it sets none of its fields. */
function ownContainer(
  templates: Templates,
  body: EndpointBody,
  before?: EndpointContainer,
): EndpointContainer | undefined {
  const own = containerOfBody(body);
  if (body.templateId === undefined && Object.keys(own).length === 0) return undefined;
  const template = body.templateId === undefined ? undefined : templates.containerOf(body.templateId);
  // Merge the variables of the body and the template.
  const env = template && own.env ? { env: { ...template.env, ...own.env } } : {};
  const all = { ...EMPTY_CONTAINER, templateId: "", ...before, ...template, ...own, ...env };
  // A worker's container names its template. An endpoint's own container does not.
  const { templateId: _, ...container } = all;
  return container;
}

/** Returns the template of a new endpoint without a `templateId`, so that GraphQL can show one. */
function ownTemplate(endpointName: string, container: EndpointContainer, random: () => number) {
  return {
    ...templateOfContainer(container),
    name: `${endpointName}__template__${randomId(random, 7)}`,
  };
}

/** Returns `true` if an endpoint's container matches the template that belongs to the endpoint. */
function hasOwnTemplate(templates: Templates, { id, container, templateId }: Readonly<EndpointRecord>): boolean {
  return !container && templates.find(templateId)?.boundEndpointId === id;
}
