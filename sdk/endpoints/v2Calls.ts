import { z } from "zod";
import { InvalidInputError } from "../errors";
import { deleteV2, listV2, patchRecord, requestRecord } from "../records/v2Calls";
import { decode } from "../transport/decode";
import { type RestV2Transport, requestV2 } from "../transport/restV2";
import type { CallContext } from "../transport/retryingCall";
import { pathSegment } from "../transport/urls";
import { createDataCenters } from "./dataCenters";
import type { EndpointCalls } from "./endpointCalls";
import { ENDPOINT } from "./listRecords";
import { normalizeLocations } from "./normalForms";
import { endpointV2Schema, hiddenInV2, toCreateBody, toPatchBody } from "./v2Format";

const KIND = { ...ENDPOINT, schema: endpointV2Schema };

const workersSchema = z.looseObject({ workers: z.array(z.looseObject({ id: z.string() })) });

const pathOf = (id: string) => `/serverless/${pathSegment("id", id)}`;

/** Returns the requests over REST v2. A change sends only what differs. */
export function v2EndpointCalls(context: CallContext, transport: RestV2Transport): EndpointCalls {
  const dataCenters = createDataCenters(context, transport);
  /** Returns `undefined` for places that REST v2 cannot have: GraphQL may have accepted them. */
  function meaningOf(locations: string): string | undefined {
    try {
      return normalizeLocations(dataCenters.idsOf(locations));
    } catch (error) {
      if (error instanceof InvalidInputError) return undefined;
      throw error;
    }
  }
  return {
    names: {
      list: "listEndpoints",
      create: "createEndpoint",
      change: "updateEndpoint",
      delete: "deleteEndpoint",
    },
    list: (operation, attempt) =>
      listV2(transport, KIND, { name: "listEndpoints", operation, path: "/serverless", field: "endpoints" }, attempt),
    create(operation, settings, attempt) {
      const body = toCreateBody(settings, dataCenters);
      const request = { name: "createEndpoint", operation, method: "POST", path: "/serverless", body } as const;
      return requestRecord(transport, KIND, request, attempt);
    },
    async change(operation, before, changes, attempt) {
      const body = toPatchBody(before, changes, dataCenters);
      return patchRecord(
        transport,
        KIND,
        { name: "updateEndpoint", operation, path: pathOf(before.id), body },
        attempt,
      );
    },
    delete: (operation, { id }, attempt) =>
      deleteV2(transport, { name: "deleteEndpoint", operation, path: pathOf(id) }, attempt),
    hiddenIn: hiddenInV2,
    prepare: ({ locations = "" }) => dataCenters.load(locations),
    async recognize(endpoint, { locations }) {
      if (typeof locations !== "string" || locations === endpoint.locations) return endpoint;
      await dataCenters.load(locations);
      return endpoint.locations === meaningOf(locations) ? { ...endpoint, locations } : endpoint;
    },
    async pods(operation, id, attempt) {
      const request = { name: "listWorkers", operation, method: "GET", path: `${pathOf(id)}/workers` } as const;
      const { workers } = decode(workersSchema, await requestV2(transport, request, attempt), operation);
      // The service shows only those that live.
      return workers.map(() => ({ desiredStatus: "RUNNING" as const }));
    },
    applyTemplate: (operation, { id }, templateId, attempt) =>
      patchRecord(
        transport,
        KIND,
        { name: "updateEndpoint", operation, path: pathOf(id), body: { templateId } },
        attempt,
      ),
  };
}
