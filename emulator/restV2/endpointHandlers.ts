import type { Endpoints } from "../endpoints/endpoints";
import {
  containerOfBody,
  EMPTY_CONTAINER,
  type EndpointContainer,
  templateOfContainer,
} from "../model/containerFields";
import { DATA_CENTERS } from "../model/dataCenters";
import { ENDPOINT_FIELDS, type EndpointRecord } from "../model/endpointFields";
import { OBSERVED_FIELDS } from "../model/observedFields";
import { randomId } from "../model/random";
import { changedByBody, createdByBody } from "../model/v2Form";
import type { Templates } from "../templates/templates";
import { type EndpointBody, shownEndpoint } from "./endpointShape";
import type { V2Call } from "./handler";
import { pageOf } from "./pages";
import { findOrRefuse, Refusal } from "./problem";

/** The parts of the account that endpoints need in REST v2. */
export interface EndpointParts {
  readonly endpoints: Endpoints;
  readonly templates: Templates;
  readonly random: () => number;
  /** The data centers of the catalogue. */
  readonly dataCenters: readonly string[];
}

/** Returns the operations on endpoints. */
export function endpointHandlers({ endpoints, templates, random, dataCenters }: EndpointParts) {
  const containerNow = (record: Readonly<EndpointRecord>) =>
    record.container ?? templates.containerOf(record.templateId);
  const shown = (record: Readonly<EndpointRecord>) => shownEndpoint(record, containerNow(record));

  const recordOf = (id: string, listLagMs?: number): Readonly<EndpointRecord> =>
    findOrRefuse(
      endpoints.list(listLagMs).map(({ record }) => record),
      id,
    );

  /** Returns the container that a body asks for, or `undefined` if it sets no field of it. */
  function ownContainer(body: EndpointBody, before?: EndpointContainer): EndpointContainer | undefined {
    const own = containerOfBody(body);
    if (body.templateId === undefined && Object.keys(own).length === 0) return undefined;
    const template = body.templateId === undefined ? undefined : templates.containerOf(body.templateId);
    // The variables of the body and the template are merged.
    const env = template && own.env ? { env: { ...template.env, ...own.env } } : {};
    const all = { ...EMPTY_CONTAINER, templateId: "", ...before, ...template, ...own, ...env };
    // The container of a worker names its template; that of an endpoint has none.
    const { templateId: _, ...container } = all;
    return container;
  }

  function assertAllowed(body: EndpointBody, scaler: string | undefined): void {
    const unknown = body.dataCenterIds?.find((id) => ![...dataCenters, ...KNOWN].includes(id));
    if (unknown !== undefined) throw new Refusal(400, `unknown data center "${unknown}"`, "v2.data-centers");
    if ((body.networkVolumes?.length ?? 0) > 1) {
      throw new Refusal(400, "The emulator supports one network volume for each endpoint", "v2.one-volume");
    }
    if (body.type === "LOAD_BALANCER") {
      throw new Refusal(400, "The emulator supports only endpoints with a queue", "v2.queue-only");
    }
    if (scaler === "REQUEST_COUNT" && body.workers?.idleTimeout !== undefined) {
      const reason = "$.workers: idleTimeout is not allowed with REQUEST_COUNT";
      throw new Refusal(422, "Request validation failed.", "v2.idle-timeout", [reason]);
    }
    const { allowedCudaVersions = [], minCudaVersion } = body.gpu ?? {};
    if (allowedCudaVersions.length > 0 && minCudaVersion) {
      throw new Refusal(400, "allowedCudaVersions and minCudaVersion exclude each other", "v2.cuda");
    }
  }

  /** Creates the template that belongs to an endpoint without one, so that GraphQL has something to show. */
  function boundTemplate(endpointName: string, container: EndpointContainer): string {
    const name = `${endpointName}__template__${randomId(random, 7)}`;
    return templates.create({ ...templateOfContainer(container), name }).id;
  }

  return {
    listEndpoints({ listLagMs, query }: V2Call) {
      const newestFirst = [...endpoints.list(listLagMs)].reverse();
      const { items, pagination } = pageOf(
        newestFirst.map(({ record }) => record),
        query,
      );
      return { endpoints: items.map(shown), pagination };
    },
    createEndpoint({ body }: V2Call<EndpointBody>) {
      assertAllowed(body, body.scaling?.type);
      if (!body.gpu) throw new Refusal(400, "exactly one of gpu and cpu is needed", "v2.gpu");
      if (body.templateId === undefined && body.image === undefined) {
        throw new Refusal(422, "Request validation failed.", "v2.image", ["$: missing property 'image'"]);
      }
      const container = ownContainer(body) ?? EMPTY_CONTAINER;
      const isBound = body.templateId === undefined;
      const templateId = body.templateId ?? boundTemplate(body.name ?? "", container);
      const input = { ...createdByBody(ENDPOINT_FIELDS, body), templateId };
      const observed = changedByBody(OBSERVED_FIELDS, body);
      try {
        const { record } = endpoints.create(input, undefined, { container, observed });
        if (isBound) templates.bind(templateId, record.id);
        return shown(record);
      } catch (error) {
        if (isBound) templates.remove(templateId);
        throw error;
      }
    },
    getEndpoint: ({ id, listLagMs }: V2Call) => shown(recordOf(id, listLagMs)),
    updateEndpoint({ id, body }: V2Call<EndpointBody>) {
      const before = recordOf(id);
      assertAllowed(body, body.scaling?.type ?? before.scalerType);
      const container = ownContainer(body, containerNow(before));
      const observed = changedByBody(OBSERVED_FIELDS, body);
      const { record } = endpoints.patch(id, changedByBody(ENDPOINT_FIELDS, body), {
        ...(container && { container }),
        observed,
      });
      return shown(record);
    },
    deleteEndpoint({ id }: V2Call) {
      recordOf(id);
      endpoints.remove(id);
      const bound = templates.list().filter(({ boundEndpointId }) => boundEndpointId === id);
      for (const template of bound) templates.remove(template.id);
      return undefined;
    },
    listWorkers({ id }: V2Call) {
      const { runtime, record } = endpoints.find(id) ?? { runtime: undefined, record: recordOf(id) };
      const states = new Map(runtime?.workers().map((worker) => [worker.id, worker.state]));
      const live = (runtime?.pods() ?? []).filter(({ desiredStatus }) => desiredStatus === "RUNNING");
      const workers = live.map((pod) => ({
        id: pod.id,
        status: WORKER_STATUS[states.get(pod.id) ?? ""] ?? "RUNNING",
        isStale: pod.slsVersion !== record.version,
        version: pod.slsVersion,
        gpuCount: 1,
        image: pod.container.imageName,
        startedAt: new Date(pod.startedAt).toISOString(),
      }));
      const count = (status: string) => workers.filter((worker) => worker.status === status).length;
      const summary = {
        ...{ running: count("RUNNING"), idle: count("IDLE"), initializing: count("INITIALIZING") },
        ...{ throttled: count("THROTTLED"), unhealthy: 0, total: workers.length },
      };
      return { endpointVersion: record.version, summary, workers };
    },
  };
}

const KNOWN = DATA_CENTERS.map(({ id }) => id);

const WORKER_STATUS: Readonly<Record<string, string>> = {
  idle: "IDLE",
  initializing: "INITIALIZING",
  throttled: "THROTTLED",
  running: "RUNNING",
};
