import * as z from "zod";
import type { CatalogCalls } from "../catalog/catalog";
import {
  type AccountLimits,
  bestLevel,
  type CatalogDataCenter,
  type CatalogGpu,
  type CatalogPool,
  stockLevel,
  UNKNOWN_ENDPOINT,
} from "../catalog/record";
import { AuthenticationError, RejectedError } from "../errors/errors";
import type { Attempt } from "../transport/call";
import { decode } from "../transport/decode";
import { id, looseFlag, looseNumber, looseText, looseTexts, money, utcTime } from "../transport/looseFields";
import { readMyself } from "./requests";
import { execute, type GraphqlTransport } from "./transport";

/**
 * Returns the arguments for querying the stock available to workers. One of the service's own
 * clients uses the same arguments (observed).
 */
const forWorkers = (gpuCount: number) => `input: { gpuCount: ${gpuCount}, secureCloud: true, includeAiApi: true }`;

const GPU = `id displayName manufacturer memoryInGb securePrice`;
const LOWEST = "stockStatus gpuTypeDatacenters { dataCenterId } gpuTypeCudaVersions { cudaVersion availability }";
const PLACED = "gpuTypeId available stockStatus";
const POOLS = "serverlessGpuPools { id gpuTypeIds }";
const LIMITS = `maxServerlessConcurrency machineQuota spendLimit currentSpendPerHr clientBalance minBalance underBalance
  spendDetails { localStoragePerHour networkStoragePerHour gpuComputePerHour }`;

/** The id of the entry in the catalog that means "no GPU" (observed). */
const NO_GPU = "unknown";

const placedSchema = z
  .array(z.looseObject({ gpuTypeId: id, available: looseFlag, stockStatus: looseText }))
  .nullish()
  .transform((rows) =>
    (rows ?? []).map(({ gpuTypeId, available, stockStatus }) => ({
      id: gpuTypeId,
      stock: available === false ? ("None" as const) : stockLevel(stockStatus),
    })),
  );

const gpuSchema = z.looseObject({
  id,
  displayName: looseText,
  manufacturer: looseText,
  memoryInGb: looseNumber,
  securePrice: looseNumber,
  lowestPrice: z
    .looseObject({
      stockStatus: looseText,
      gpuTypeDatacenters: z.array(z.looseObject({ dataCenterId: id })).nullish(),
      gpuTypeCudaVersions: z.array(z.looseObject({ cudaVersion: id, availability: looseText })).nullish(),
    })
    .nullish(),
});

const gpusSchema = z.looseObject({
  gpuTypes: z.array(gpuSchema).min(1),
  dataCenters: z.array(z.looseObject({ id, gpuAvailability: placedSchema })).min(1),
});

const dataCentersSchema = z.looseObject({
  dataCenters: z
    .array(
      z
        .looseObject({
          id,
          name: looseText,
          region: looseText,
          listed: looseFlag,
          storageSupport: looseFlag,
          compliance: looseTexts,
          gpuAvailability: placedSchema,
        })
        .transform(
          ({ id, name = id, region, listed = true, storageSupport, compliance = [], gpuAvailability: gpus }) => ({
            id,
            name,
            region,
            isListed: listed,
            compliance,
            gpus,
            // GraphQL shows whether there is storage, but not which kinds of storage.
            volumeTypes: storageSupport === false ? [] : undefined,
          }),
        ),
    )
    .min(1),
}) as unknown as z.ZodType<{ dataCenters: CatalogDataCenter[] }>;

const poolsSchema = z.looseObject({
  serverlessGpuPools: z.array(z.looseObject({ id, gpuTypeIds: z.array(z.string()) })).min(1),
});

const cpusSchema = z.looseObject({
  cpuFlavors: z
    .array(
      z.looseObject({
        id,
        displayName: looseText,
        minVcpu: looseNumber,
        maxVcpu: looseNumber,
        ramMultiplier: looseNumber,
      }),
    )
    .min(1),
});

const limitsSchema = z
  .looseObject({
    maxServerlessConcurrency: looseNumber,
    spendLimit: looseNumber,
    currentSpendPerHr: looseNumber,
    clientBalance: looseNumber,
    underBalance: looseFlag,
  })
  .transform(
    (raw): AccountLimits => ({
      workerQuota: raw.maxServerlessConcurrency ?? null,
      spendLimit: raw.spendLimit ?? null,
      currentSpend: raw.currentSpendPerHr ?? null,
      balance: raw.clientBalance ?? null,
      isUnderBalance: raw.underBalance ?? null,
      raw,
    }),
  );

const chargeSchema = z.looseObject({
  endpointId: looseText,
  time: utcTime,
  amount: money,
  timeBilledSeconds: looseNumber,
});
const billSchema = z.looseObject({ billing: z.looseObject({ serverless: z.array(chargeSchema) }) });

/**
 * Returns the requests over GraphQL. Requests that need no account are sent without the key. GPU
 * types are read together with their pools, unless the key does not have access to the pools.
 */
export function graphqlCatalogCalls(transport: GraphqlTransport): CatalogCalls {
  const withoutKey: GraphqlTransport = { ...transport, apiKey: undefined };
  return {
    async gpus(operation, gpuCount, attempt) {
      const fields = `gpuTypes { ${GPU} lowestPrice(${forWorkers(gpuCount)}) { ${LOWEST} } }
        dataCenters { id gpuAvailability(${forWorkers(gpuCount)}) { ${PLACED} } }`;
      try {
        const data = await execute(transport, operation, "gpuTypes", `{ ${fields} ${POOLS} }`, attempt);
        const pools = poolsIn(data, operation);
        const poolOf = (id: string) => pools.find(({ gpuTypeIds }) => gpuTypeIds.includes(id))?.id ?? null;
        return gpusIn(decode(gpusSchema, data, operation)).map((gpu) => ({ ...gpu, pool: poolOf(gpu.id) }));
      } catch (error) {
        if (!(error instanceof AuthenticationError || error instanceof RejectedError)) throw error;
      }
      const data = await execute(withoutKey, operation, "gpuTypes", `{ ${fields} }`, attempt);
      return gpusIn(decode(gpusSchema, data, operation));
    },
    async dataCenters(operation, attempt) {
      const places = `gpuAvailability(${forWorkers(1)}) { ${PLACED} }`;
      const query = `{ dataCenters { id name region listed storageSupport compliance ${places} } }`;
      const data = await execute(withoutKey, operation, "dataCenters", query, attempt);
      return decode(dataCentersSchema, data, operation).dataCenters;
    },
    async cpus(operation, attempt) {
      const query = "{ cpuFlavors { id displayName minVcpu maxVcpu ramMultiplier } }";
      const data = await execute(withoutKey, operation, "cpuFlavors", query, attempt);
      return decode(cpusSchema, data, operation).cpuFlavors.map((cpu) => ({
        id: cpu.id,
        name: cpu.displayName ?? cpu.id,
        minVcpus: cpu.minVcpu,
        maxVcpus: cpu.maxVcpu,
        memoryPerVcpu: cpu.ramMultiplier,
      }));
    },
    async pools(operation, attempt) {
      return poolsIn(await execute(transport, operation, "serverlessGpuPools", `{ ${POOLS} }`, attempt), operation);
    },
    async charges(operation, { bucket }, attempt) {
      const granularity = bucket === "day" ? "DAILY" : "HOURLY";
      const selection = `billing(input: { granularity: ${granularity} }) {
        serverless(input: { groupBy: ENDPOINT }) { time amount timeBilledSeconds endpointId } }`;
      const myself = await readMyself(transport, operation, selection, attempt);
      return decode(billSchema, myself, operation).billing.serverless.map(
        ({ endpointId = UNKNOWN_ENDPOINT, time, amount, timeBilledSeconds }) => ({
          endpointId,
          time,
          amount,
          seconds: timeBilledSeconds,
        }),
      );
    },
    limits: async (operation, attempt) =>
      decode(limitsSchema, await readMyself(transport, operation, LIMITS, attempt), operation),
    accountId: (operation, attempt) => graphqlAccountId(transport, operation, attempt),
  };
}

/** Reads the id of the account that the key belongs to. */
export async function graphqlAccountId(
  transport: GraphqlTransport,
  operation: string,
  attempt: Attempt,
): Promise<string> {
  return decode(z.looseObject({ id }), await readMyself(transport, operation, "id", attempt), operation).id;
}

function poolsIn(data: unknown, operation: string): CatalogPool[] {
  const { serverlessGpuPools } = decode(poolsSchema, data, operation);
  return serverlessGpuPools.map(({ id, gpuTypeIds }) => ({ id, gpuTypeIds }));
}

/** Returns the GPU types with their stock in each data center, which comes from a separate list. */
function gpusIn({ gpuTypes, dataCenters }: z.infer<typeof gpusSchema>): CatalogGpu[] {
  return gpuTypes
    .filter((gpu) => gpu.id !== NO_GPU)
    .map(({ id, displayName, manufacturer, memoryInGb, securePrice, lowestPrice }) => {
      const placed = dataCenters.flatMap((place) =>
        place.gpuAvailability.filter((each) => each.id === id).map(({ stock }) => ({ id: place.id, stock })),
      );
      const others = (lowestPrice?.gpuTypeDatacenters ?? []).flatMap(({ dataCenterId }) =>
        placed.some((each) => each.id === dataCenterId) ? [] : [{ id: dataCenterId, stock: "None" as const }],
      );
      return {
        id,
        name: displayName ?? id,
        manufacturer,
        memoryInGb,
        podPrice: securePrice,
        // The overall stock may be shown as "none" even though a data center has stock (observed).
        stock: bestLevel([stockLevel(lowestPrice?.stockStatus), ...placed.map(({ stock }) => stock)]),
        dataCenters: [...placed, ...others],
        cudaVersions: lowestPrice?.gpuTypeCudaVersions?.map(({ cudaVersion, availability }) => ({
          version: cudaVersion,
          isAvailable: availability === "AVAILABLE",
        })),
      };
    });
}
