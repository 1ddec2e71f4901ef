import type { Shape } from "./shapes";

/**
 * The facts about REST v2 that the emulator follows: paths, methods, status, required fields, enums and limits. It is our
 * own table, from public sources. `npm run check:spec` compares it with a description of the service.
 */

const text: Shape = { type: "string" };
const name: Shape = { type: "string", minLength: 1 };
const flag: Shape = { type: "boolean" };
const texts: Shape = { type: "array", items: text };
const cudaVersions: Shape = { type: "array", items: { type: "string", pattern: "^\\d+\\.\\d+$" } };

/** The container of workers and pods. Templates and endpoints have the same fields. */
const CONTAINER: Readonly<Record<string, Shape>> = {
  image: text,
  args: text,
  disk: { type: "integer", minimum: 1 },
  env: { type: "object", values: text },
  ports: texts,
  registry: { type: "string", nullable: true },
};

const SCALING: Shape = {
  oneOf: [
    {
      type: "object",
      required: ["type", "queueDelay"],
      properties: {
        type: { type: "string", enum: ["QUEUE_DELAY"] },
        queueDelay: { type: "number", minimum: 0.5 },
      },
    },
    {
      type: "object",
      required: ["type", "requestCount"],
      properties: {
        type: { type: "string", enum: ["REQUEST_COUNT"] },
        requestCount: { type: "integer", minimum: 1 },
      },
    },
  ],
};

const GPU: Readonly<Record<string, Shape>> = {
  pools: { type: "array", items: text, minItems: 1 },
  excludedTypes: { type: "array", items: { type: "string", pattern: "^[^-]" } },
  count: { type: "integer", minimum: 1 },
  allowedCudaVersions: cudaVersions,
};

const CUDA_VERSION = "^\\d+\\.\\d+$";

/** The fields of an endpoint that both a create and a change accept. */
const ENDPOINT: Readonly<Record<string, Shape>> = {
  ...CONTAINER,
  name,
  templateId: text,
  scaling: SCALING,
  workers: {
    type: "object",
    properties: {
      min: { type: "integer", minimum: 0 },
      max: { type: "integer", minimum: 0 },
      idleTimeout: { type: "integer", minimum: 1, maximum: 3600 },
    },
  },
  dataCenterIds: texts,
  flashboot: { type: "string", enum: ["OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT"] },
  networkVolumes: texts,
  timeout: { type: "integer" },
};

const TEMPLATE: Readonly<Record<string, Shape>> = {
  ...CONTAINER,
  name,
  serverless: flag,
  public: flag,
  category: { type: "string", enum: ["CPU", "NVIDIA", "AMD"] },
  startSsh: flag,
  startJupyter: flag,
  allowedCudaVersions: cudaVersions,
};

const VOLUME: Readonly<Record<string, Shape>> = {
  name,
  size: { type: "integer", minimum: 10, maximum: 4096 },
};

/** One operation of REST v2. */
export interface OperationFacts {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** The path below `/v2`, with the id as `{id}`. */
  readonly path: string;
  /** The status of success. */
  readonly status: 200 | 201 | 204;
  /** The shape of the request's body. */
  readonly body?: Shape;
  /** The field of the response that holds a list. */
  readonly list?: string;
  /** The fields of the response, or of each element of its list, that the client reads. */
  readonly reads?: readonly string[];
  /** Query parameters that the client sends. */
  readonly query?: readonly string[];
}

const READ_ENDPOINT = ["id", "name", "gpu", "workers", "scaling", "dataCenterIds", "networkVolumes", "flashboot"];
const READ_TEMPLATE = ["id", "name", "image", "args", "disk", "ports", "env", "registry", "serverless", "public"];
const READ_VOLUME = ["id", "name", "size", "dataCenter", "type"];
const READ_REGISTRY = ["id", "name"];
const PAGES = ["limit", "cursor"];

/** Every operation that the emulator serves, by the name that the journal and the fault rules use. */
export const REST_V2 = {
  listEndpoints: {
    method: "GET",
    path: "/serverless",
    status: 200,
    list: "endpoints",
    reads: READ_ENDPOINT,
    query: PAGES,
  },
  createEndpoint: {
    method: "POST",
    path: "/serverless",
    status: 201,
    reads: READ_ENDPOINT,
    body: {
      type: "object",
      required: ["name", "type", "scaling"],
      properties: {
        ...ENDPOINT,
        templateId: name,
        type: { type: "string", enum: ["QUEUE", "LOAD_BALANCER"] },
        gpu: {
          type: "object",
          required: ["pools"],
          properties: { ...GPU, minCudaVersion: { type: "string", pattern: CUDA_VERSION } },
        },
      },
    },
  },
  getEndpoint: { method: "GET", path: "/serverless/{id}", status: 200, reads: READ_ENDPOINT },
  updateEndpoint: {
    method: "PATCH",
    path: "/serverless/{id}",
    status: 200,
    reads: READ_ENDPOINT,
    body: {
      type: "object",
      properties: {
        ...ENDPOINT,
        gpu: {
          type: "object",
          properties: { ...GPU, minCudaVersion: { type: "string", pattern: `^$|${CUDA_VERSION}` } },
          dependentRequired: { excludedTypes: ["pools"] },
        },
      },
    },
  },
  deleteEndpoint: { method: "DELETE", path: "/serverless/{id}", status: 204 },
  listWorkers: {
    method: "GET",
    path: "/serverless/{id}/workers",
    status: 200,
    list: "workers",
    reads: ["id", "status"],
  },
  listTemplates: {
    method: "GET",
    path: "/templates",
    status: 200,
    list: "templates",
    reads: READ_TEMPLATE,
    query: PAGES,
  },
  createTemplate: {
    method: "POST",
    path: "/templates",
    status: 201,
    reads: READ_TEMPLATE,
    body: { type: "object", required: ["name", "image"], properties: TEMPLATE },
  },
  getTemplate: { method: "GET", path: "/templates/{id}", status: 200, reads: READ_TEMPLATE },
  updateTemplate: {
    method: "PATCH",
    path: "/templates/{id}",
    status: 200,
    reads: READ_TEMPLATE,
    body: { type: "object", properties: TEMPLATE },
  },
  deleteTemplate: { method: "DELETE", path: "/templates/{id}", status: 204 },
  listNetworkVolumes: {
    method: "GET",
    path: "/network-volumes",
    status: 200,
    list: "networkVolumes",
    reads: READ_VOLUME,
    query: PAGES,
  },
  createNetworkVolume: {
    method: "POST",
    path: "/network-volumes",
    status: 201,
    reads: READ_VOLUME,
    body: {
      type: "object",
      required: ["name", "size", "dataCenter"],
      properties: { ...VOLUME, dataCenter: name, type: { type: "string", enum: ["STANDARD", "HIGH_PERFORMANCE"] } },
    },
  },
  getNetworkVolume: { method: "GET", path: "/network-volumes/{id}", status: 200, reads: READ_VOLUME },
  updateNetworkVolume: {
    method: "PATCH",
    path: "/network-volumes/{id}",
    status: 200,
    reads: READ_VOLUME,
    body: { type: "object", minProperties: 1, properties: VOLUME },
  },
  deleteNetworkVolume: { method: "DELETE", path: "/network-volumes/{id}", status: 204 },
  listRegistries: {
    method: "GET",
    path: "/registries",
    status: 200,
    list: "registries",
    reads: READ_REGISTRY,
    query: PAGES,
  },
  createRegistry: {
    method: "POST",
    path: "/registries",
    status: 201,
    reads: READ_REGISTRY,
    body: {
      type: "object",
      required: ["name", "username", "password"],
      properties: { name, username: name, password: name },
    },
  },
  getRegistry: { method: "GET", path: "/registries/{id}", status: 200, reads: READ_REGISTRY },
  deleteRegistry: { method: "DELETE", path: "/registries/{id}", status: 204 },
  listDataCenters: {
    method: "GET",
    path: "/catalog/datacenters",
    status: 200,
    list: "dataCenters",
    reads: ["id"],
  },
  getPod: {
    method: "GET",
    path: "/pods/{id}",
    status: 200,
    reads: ["id", "name", "status", "image", "disk", "mounts", "ports", "env", "registry", "cost", "locked", "runtime"],
  },
} as const satisfies Readonly<Record<string, OperationFacts>>;

/** The name of an operation of REST v2. */
export type OperationName = keyof typeof REST_V2;

/** The largest page of a list, and the default. */
export const LARGEST_PAGE = 1000;

/** The windows of the rate limit of an account, in seconds. */
export const RATE_WINDOWS = { minute: 60, hour: 3600, day: 86_400 } as const;
