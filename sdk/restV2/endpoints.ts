import { ENDPOINT, type EndpointCalls } from "../endpoints/calls";
import { FIELDS } from "../endpoints/fields";
import { normalizeSet } from "../endpoints/normalForms";
import { InvalidInputError } from "../errors/errors";
import type { CallContext } from "../transport/call";
import { createDataCenters } from "./dataCenters";
import { createBody, endpointV2Schema, patchBody } from "./endpointFormat";
import { hiddenInV2, resetInV2 } from "./format";
import { v2Requests } from "./requests";
import type { RestV2Transport } from "./transport";
import { getWorkers, v2ReleaseCalls, workersSchema } from "./workers";

export const ENDPOINT_LIST = {
  ...ENDPOINT,
  schema: endpointV2Schema,
  names: {
    list: "listEndpoints",
    read: "getEndpoint",
    create: "createEndpoint",
    change: "updateEndpoint",
    delete: "deleteEndpoint",
  },
  path: "/serverless",
  field: "endpoints",
};

/** Returns the requests over REST v2. A change sends only the fields that differ. */
export function v2EndpointCalls(context: CallContext, transport: RestV2Transport): EndpointCalls {
  const dataCenters = createDataCenters(context, transport);
  /**
   * Returns the data centers that the locations refer to. Returns `undefined` for locations that
   * REST v2 does not support, because GraphQL may have accepted them.
   */
  function meaningOf(locations: string): string | undefined {
    try {
      return normalizeSet(dataCenters.idsOf(locations));
    } catch (error) {
      if (error instanceof InvalidInputError) return undefined;
      throw error;
    }
  }
  const requests = v2Requests(transport, ENDPOINT_LIST);
  return {
    ...requests,
    ...v2ReleaseCalls(transport),
    create: async (operation, settings, attempt) =>
      requests.create(operation, createBody(settings, dataCenters), attempt),
    change: async (operation, before, changes, attempt) =>
      requests.patch(operation, before.id, patchBody(before, changes, dataCenters), attempt),
    hiddenIn: (endpoint) => hiddenInV2(FIELDS, endpoint),
    resets: (before, changes) => resetInV2(FIELDS, before, changes),
    prepare: ({ locations = "" }) => dataCenters.load(locations),
    async recognize(endpoint, { locations }) {
      if (typeof locations !== "string" || locations === endpoint.locations) return endpoint;
      await dataCenters.load(locations);
      return endpoint.locations === meaningOf(locations) ? { ...endpoint, locations } : endpoint;
    },
    async pods(operation, id, attempt) {
      const { workers } = await getWorkers(transport, workersSchema, operation, id, attempt);
      // The service lists only workers that have not shut down.
      return workers.map(() => ({ desiredStatus: "RUNNING" as const }));
    },
    applyTemplate: (operation, { id }, templateId, attempt) => requests.patch(operation, id, { templateId }, attempt),
  };
}
