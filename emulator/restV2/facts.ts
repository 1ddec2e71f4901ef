import { CONTAINER_FIELDS } from "../model/containerFields";
import { ENDPOINT_FIELDS } from "../model/endpointFields";
import { CUDA_VERSION, CUDA_VERSIONS, NAME, type Shape } from "../model/shapes";
import { v2Properties, v2Shown } from "../model/v2Form";
import { REGISTRY_AUTH_FIELDS } from "../registryAuths/registryAuthFields";
import { CHANGEABLE_SECRET_FIELDS as CHANGEABLE_SECRET, SECRET_FIELDS } from "../secrets/secretFields";
import { TEMPLATE_FIELDS } from "../templates/templateFields";
import { CHANGEABLE_VOLUME_FIELDS, VOLUME_FIELDS } from "../volumes/volumeFields";

type Properties = Readonly<Record<string, Shape>>;

const TEMPLATE: Properties = { ...v2Properties(TEMPLATE_FIELDS), allowedCudaVersions: CUDA_VERSIONS };
const VOLUME = v2Properties(CHANGEABLE_VOLUME_FIELDS);
const ALL_ENDPOINT_FIELDS = { ...ENDPOINT_FIELDS, ...CONTAINER_FIELDS };
/** An update accepts all endpoint fields except the type. */
const { type: ENDPOINT_TYPE = {}, gpu: GPU = {}, ...ENDPOINT } = v2Properties(ALL_ENDPOINT_FIELDS);
/** An empty string clears the version in an update. */
const CLEARABLE_VERSION: Shape = { ...CUDA_VERSION, pattern: `^$|${CUDA_VERSION.pattern}` };

/** One operation of REST v2. */
export interface OperationFacts {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** The path below `/v2`, with `{id}` and `{workerId}` as placeholders. */
  readonly path: string;
  /** The status of a successful response. */
  readonly status: 200 | 201 | 204;
  /** The shape of the request body. */
  readonly body?: Shape;
  /** The response field that contains a list. */
  readonly list?: string;
  /**
   * The fields of the response, or of each list element, that the emulator shows or the client
   * reads.
   */
  readonly reads?: readonly string[];
  /** The query parameters that the client sends. */
  readonly query?: readonly string[];
}

const READ_ENDPOINT = ["id", ...v2Shown(ALL_ENDPOINT_FIELDS), "requestUrls"];
const READ_TEMPLATE = ["id", ...v2Shown(TEMPLATE_FIELDS)];
const READ_VOLUME = ["id", ...v2Shown(VOLUME_FIELDS), "type"];
const READ_REGISTRY = ["id", ...v2Shown(REGISTRY_AUTH_FIELDS)];
const READ_SECRET = ["id", ...v2Shown(SECRET_FIELDS), "createdAt", "valueLastUpdatedAt"];
const READ_GPU = ["id", "name", "pool", "manufacturer", "memory", "price", "maxCount"];
const PAGES = ["limit", "cursor"];

/**
 * Every operation that the emulator serves, by its name in the journal and in fault rules. Paths,
 * methods, statuses and required properties are defined here. The properties of a record come from
 * its field table. All of it is from public sources. `npm run check:spec` compares it with an
 * OpenAPI document of the service.
 */
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
        templateId: NAME,
        type: ENDPOINT_TYPE,
        gpu: { ...GPU, required: ["pools"] },
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
          ...GPU,
          properties: { ...GPU.properties, minCudaVersion: CLEARABLE_VERSION },
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
    reads: [
      "id",
      "status",
      "isStale",
      "version",
      "gpuCount",
      "image",
      "uptimeSeconds",
      "gpuTypeId",
      "dataCenterId",
      "startedAt",
    ],
  },
  listReleases: {
    method: "GET",
    path: "/serverless/{id}/releases",
    status: 200,
    list: "releases",
    reads: ["id", "version", "source", "buildId", "createdByUserId", "workerCount", "createdAt", "diff"],
    query: PAGES,
  },
  workerLogs: {
    method: "GET",
    path: "/serverless/{id}/workers/{workerId}/logs",
    status: 200,
    query: ["source", "tail", "since"],
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
      properties: {
        ...v2Properties(VOLUME_FIELDS),
        type: { type: "string", enum: ["STANDARD", "HIGH_PERFORMANCE"] },
      },
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
      properties: v2Properties(REGISTRY_AUTH_FIELDS),
    },
  },
  getRegistry: { method: "GET", path: "/registries/{id}", status: 200, reads: READ_REGISTRY },
  deleteRegistry: { method: "DELETE", path: "/registries/{id}", status: 204 },
  listSecrets: {
    method: "GET",
    path: "/account/secrets",
    status: 200,
    list: "secrets",
    reads: READ_SECRET,
    query: ["name"],
  },
  createSecret: {
    method: "POST",
    path: "/account/secrets",
    status: 201,
    reads: READ_SECRET,
    body: { type: "object", required: ["name", "value"], properties: v2Properties(SECRET_FIELDS) },
  },
  getSecret: { method: "GET", path: "/account/secrets/{id}", status: 200, reads: READ_SECRET },
  updateSecret: {
    method: "PATCH",
    path: "/account/secrets/{id}",
    status: 200,
    reads: READ_SECRET,
    body: { type: "object", minProperties: 1, properties: v2Properties(CHANGEABLE_SECRET) },
  },
  deleteSecret: { method: "DELETE", path: "/account/secrets/{id}", status: 204 },
  listGpus: {
    method: "GET",
    path: "/catalog/gpus",
    status: 200,
    list: "gpus",
    reads: [...READ_GPU, "availability", "dataCenters", "cudaVersions"],
    query: ["include", "product", "count"],
  },
  getGpu: { method: "GET", path: "/catalog/gpus/{id}", status: 200, reads: READ_GPU },
  listCpus: {
    method: "GET",
    path: "/catalog/cpus",
    status: 200,
    list: "cpus",
    reads: ["id", "name", "group", "vcpu", "ramGbPerVcpu", "price"],
    query: ["include", "product"],
  },
  listDataCenters: {
    method: "GET",
    path: "/catalog/datacenters",
    status: 200,
    list: "dataCenters",
    reads: ["id", "name", "region", "globalNetwork", "networkVolumeTypes", "compliance", "gpuAvailability"],
    query: ["include"],
  },
  getAccountLimits: {
    method: "GET",
    path: "/account/limits",
    status: 200,
    reads: ["spendRate", "serverlessWorkers"],
  },
  getServerlessBilling: {
    method: "GET",
    path: "/billing/serverless",
    status: 200,
    list: "records",
    reads: ["startTime", "endTime", "serverlessId", "totalAmount", "gpuAmount", "cpuAmount", "diskAmount", "feeAmount"],
    query: ["startTime", "endTime", "bucketSize", "serverlessId"],
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

/** The largest page size of a list, which is also the default. */
export const LARGEST_PAGE = 1000;
