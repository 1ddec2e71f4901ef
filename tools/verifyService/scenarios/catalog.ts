import type { TestedReply } from "../testedService";
import { type FindingOf, keysOf, observed, type Scenario } from "./scenario";

const LEVELS = ["High", "Medium", "Low"];

/** The first GPU type in a pool. */
const L4 = 'gpuTypes(input: { id: "NVIDIA L4" })';
const STOCK = "lowestPrice(input: { gpuCount: 1, secureCloud: true, includeAiApi: true })";

/** Returns whether GraphQL returned a list, ignoring its contents. */
const isShown =
  (field: string): FindingOf =>
  ({ status, body }) => ({ status, isShown: (body?.data?.[field]?.length ?? 0) > 0 });

/** Returns whether the stock level is a known word, or `null` if there is none. */
const knownLevel: FindingOf = ({ status, body }) => {
  const level = body?.data?.gpuTypes?.[0]?.lowestPrice?.stockStatus;
  return { status, isKnown: level === null || LEVELS.includes(level) };
};

const isNumber = (value: unknown) => typeof value === "number" || value === null;

/** Returns whether the account limit fields exist, ignoring their values. */
const limitsShown: FindingOf = ({ status, body }) => {
  const { maxServerlessConcurrency, spendLimit, currentSpendPerHr } = body?.data?.myself ?? {};
  return { status, areNumbers: [maxServerlessConcurrency, spendLimit, currentSpendPerHr].every(isNumber) };
};

const hasVolumeTypes = ({ status, body }: TestedReply) => ({
  status,
  haveTypes: body?.dataCenters?.every((each: object) =>
    Array.isArray((each as Record<string, unknown>).networkVolumeTypes),
  ),
});

/**
 * Tests the catalog and account limits that reviews, data sources and the provider read. Only
 * records names and types of values, because the contents change.
 */
export const catalog: Scenario = {
  name: "the catalog and the account's limits",
  steps: [
    {
      send: { graphql: "{ gpuTypes { id } }", key: "none" },
      findings: [[observed("catalog.public"), isShown("gpuTypes")]],
    },
    {
      send: { graphql: "{ serverlessGpuPools { id gpuTypeIds } }", key: "none" },
      findings: [[observed("catalog.pools-key"), isShown("serverlessGpuPools")]],
    },
    {
      send: { graphql: "{ serverlessGpuPools { id gpuTypeIds } }" },
      findings: [[observed("catalog.pools"), isShown("serverlessGpuPools")]],
    },
    {
      send: { graphql: `{ ${L4} { id ${STOCK} { stockStatus gpuTypeCudaVersions { cudaVersion availability } } } }` },
      findings: [[observed("catalog.stock"), knownLevel]],
    },
    {
      send: { graphql: "{ myself { maxServerlessConcurrency spendLimit currentSpendPerHr } }" },
      findings: [[observed("account.limits"), limitsShown]],
    },
    {
      send: { v2: "/account/limits" },
      findings: [
        [
          "account.limits-v2",
          ({ status, body }) => ({
            status,
            spendRate: keysOf(body?.spendRate),
            serverlessWorkers: keysOf(body?.serverlessWorkers),
          }),
        ],
      ],
    },
    {
      send: { v2: "/catalog/gpus?include=AVAILABILITY" },
      findings: [["catalog.v2-parameters", ({ status }) => status]],
    },
    {
      send: { v2: "/catalog/gpus/NVIDIA%20L4" },
      findings: [
        [
          "catalog.v2-price",
          ({ status, body }) => ({ status, pool: body?.pool, hasPrice: typeof body?.price?.serverless === "number" }),
        ],
      ],
    },
    { send: { v2: "/catalog/datacenters" }, findings: [["catalog.v2-volumes", hasVolumeTypes]] },
  ],
};
