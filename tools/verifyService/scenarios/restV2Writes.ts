import type { TestedRow } from "../testedService";
import { type FindingOf, keysOf, type Scenario, type ScenarioStep, status, UNKNOWN_ID } from "./scenario";

/** The run's second endpoint, which cannot start a worker. */
const CREATE = {
  name: "{second}",
  type: "QUEUE",
  templateId: "{template}",
  gpu: { pools: ["{pool}"], count: 1 },
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  workers: { min: 0, max: 0, idleTimeout: 31 },
  timeout: 60_000,
};

/** Returns the endpoint's settings from a reply, or the status if the request was rejected. */
const settings: FindingOf = ({ status, body }) => {
  const { gpu, workers, scaling, timeout, dataCenterIds, flashboot } = body ?? {};
  return status < 300 ? { status, gpu, workers, scaling, timeout, dataCenterIds, flashboot } : { status };
};

const fieldsOfRecord: FindingOf = ({ status, body }) => ({ status, hasTemplate: keysOf(body)?.includes("templateId") });

const patch = (changes: object | string, ...findings: readonly (readonly [TestedRow, FindingOf])[]): ScenarioStep => {
  const body = typeof changes === "string" ? changes : JSON.stringify(changes);
  return { send: { v2: "/serverless/{made}", method: "PATCH", body }, findings };
};

/** How long a deleted endpoint may still be visible, in milliseconds. */
const GONE_WITHIN_MS = 20_000;

/** Tests how REST v2 creates, changes and deletes an endpoint. */
export const restV2Writes: Scenario = {
  name: "writes over REST v2",
  steps: [
    {
      send: { v2: "/serverless", method: "POST", body: JSON.stringify(CREATE), once: true },
      as: "made",
      findings: [
        ["v2.create-status", settings],
        ["v2.template-unseen", fieldsOfRecord],
      ],
    },
    patch({ workers: { idleTimeout: 32 } }, ["v2.patch", settings]),
    patch({ gpu: { pools: ["AMPERE_24"], excludedTypes: ["NVIDIA L4"] } }),
    patch({ gpu: { pools: ["AMPERE_24"] } }, ["v2.gpu-selection", settings]),
    patch({ type: "LOAD_BALANCER" }, ["v2.type-fixed", status]),
    patch({ cpu: [{ id: "cpu3c", vcpuCount: 2 }] }, ["v2.compute-fixed", status]),
    patch({ gpu: { pools: ["AMPERE_24"], minCudaVersion: "12.4", allowedCudaVersions: ["12.8"] } }, [
      "v2.cuda",
      status,
    ]),
    patch({ scaling: { type: "REQUEST_COUNT", requestCount: 2 }, workers: { idleTimeout: 9 } }, [
      "v2.idle-timeout",
      status,
    ]),
    patch({ dataCenterIds: ["XX-NOWHERE-9"] }, ["v2.data-centers", status]),
    patch({ templateId: UNKNOWN_ID }, ["v2.unknown-template", status]),
    patch({ noSuchField: 1 }, [
      "v2.validation",
      ({ status, body }) => ({ status, errors: Array.isArray(body?.errors) }),
    ]),
    patch("{", ["v2.malformed", status]),
    { send: { v2: "/serverless/{made}", method: "PUT", body: "{}" }, findings: [["v2.method", status]] },
    {
      send: { v2: `/serverless/${UNKNOWN_ID}`, method: "PATCH", body: '{"timeout": 60000}' },
      findings: [["v2.unknown-id", status]],
    },
    { send: { v2: "/serverless/{made}", method: "DELETE" }, as: "deleted" },
    {
      send: { v2: "/serverless/{made}" },
      until: { fits: ({ status }) => status === 404, everyMs: 1000, atMostMs: GONE_WITHIN_MS },
      findings: [["v2.delete-status", (reply, { deleted }) => ({ deleted: deleted?.status, read: reply.status })]],
    },
  ],
};
