import * as z from "zod";
import type { CatalogCalls } from "../catalog/catalog";
import { type AccountLimits, bestLevel, type CatalogGpu, stockLevel, UNKNOWN_ENDPOINT } from "../catalog/record";
import { UnexpectedResponseError } from "../errors/errors";
import type { Attempt } from "../transport/call";
import { decode } from "../transport/decode";
import { id, looseFlag, looseNumber, loosePart, looseText, looseTexts, money, utcTime } from "../transport/looseFields";
import { type RestV2Transport, requestV2 } from "./transport";

const placed = z
  .array(z.looseObject({ id, availability: looseText }))
  .nullish()
  .transform((rows) => (rows ?? []).map((row) => ({ id: row.id, stock: stockLevel(row.availability) })));

const gpuSchema = z
  .looseObject({
    id,
    name: looseText,
    manufacturer: looseText,
    memory: looseNumber,
    availability: looseText,
    pool: z.string().min(1).nullable().optional().catch(undefined),
    price: z.looseObject({ serverless: looseNumber, secure: looseNumber }).nullish().catch(undefined),
    dataCenters: placed,
    cudaVersions: z.array(z.looseObject({ version: id, available: looseFlag })).nullish(),
  })
  .transform(({ id, name = id, manufacturer, memory, pool, price, availability, dataCenters, cudaVersions }) => ({
    id,
    name,
    manufacturer,
    memoryInGb: memory,
    pool,
    dataCenters,
    serverlessPrice: price?.serverless,
    podPrice: price?.secure,
    // The overall stock may be shown as "none" even though a data center has stock (observed).
    stock: bestLevel([stockLevel(availability), ...dataCenters.map(({ stock }) => stock)]),
    cudaVersions: cudaVersions?.map(({ version, available }) => ({ version, isAvailable: available ?? false })),
  })) as unknown as z.ZodType<CatalogGpu>;

const gpusSchema = z.looseObject({ gpus: z.array(gpuSchema).min(1) });

const dataCentersSchema = z.looseObject({
  dataCenters: z
    .array(
      z.looseObject({
        id,
        name: looseText,
        region: looseText,
        networkVolumeTypes: looseTexts,
        compliance: looseTexts,
        gpuAvailability: placed,
      }),
    )
    .min(1),
});

const cpusSchema = z.looseObject({
  cpus: z
    .array(
      z.looseObject({
        id,
        name: looseText,
        ramGbPerVcpu: looseNumber,
        vcpu: z.looseObject({ min: looseNumber, max: looseNumber }).nullish().catch(undefined),
        price: z.looseObject({ serverlessPerVcpu: looseNumber }).nullish().catch(undefined),
      }),
    )
    .min(1),
});

/**
 * The possible names of a limit, and of the amount used (assumed, because the service does not
 * publish them). Fields with other names are ignored, because their meaning is unknown.
 */
const LIMIT = ["limit", "limitPerHour", "max", "quota"];
const USED = ["current", "currentPerHour", "used"];

const part = z.record(z.string(), z.unknown()).catch({});
const limitsSchema = z.looseObject({ spendRate: part, serverlessWorkers: part }).transform(
  (raw): AccountLimits => ({
    workerQuota: numberNamed(raw.serverlessWorkers, LIMIT),
    spendLimit: numberNamed(raw.spendRate, LIMIT),
    currentSpend: numberNamed(raw.spendRate, USED),
    balance: null,
    isUnderBalance: null,
    raw,
  }),
);

/**
 * Returns the number in the field that has one of the names, or `null` if there is no such field or
 * more than one.
 */
function numberNamed(fields: Readonly<Record<string, unknown>>, names: readonly string[]): number | null {
  const found = names.flatMap((name) => (typeof fields[name] === "number" ? [fields[name]] : []));
  return found.length === 1 ? (found[0] ?? null) : null;
}

const billSchema = z.looseObject({
  records: z.array(z.looseObject({ serverlessId: looseText, startTime: utcTime, totalAmount: money })),
  metadata: loosePart({ recordCount: looseNumber }),
});

/** Returns the requests over REST v2. */
export function v2CatalogCalls(transport: RestV2Transport): Omit<CatalogCalls, "accountId"> {
  async function gpus(operation: string, gpuCount: number, attempt: Attempt): Promise<CatalogGpu[]> {
    const query = { include: "AVAILABILITY", product: "SERVERLESS", count: String(gpuCount) };
    const request = { name: "listGpus", operation, method: "GET", path: "/catalog/gpus", query } as const;
    return decode(gpusSchema, await requestV2(transport, request, attempt), operation).gpus;
  }

  return {
    gpus,
    async dataCenters(operation, attempt) {
      const query = { include: "GPU_AVAILABILITY" };
      const path = "/catalog/datacenters";
      const request = { name: "listDataCenters", operation, method: "GET", path, query } as const;
      const { dataCenters } = decode(dataCentersSchema, await requestV2(transport, request, attempt), operation);
      return dataCenters.map(({ id, name = id, region, networkVolumeTypes, compliance = [], gpuAvailability }) => ({
        id,
        name,
        region,
        isListed: true,
        volumeTypes: networkVolumeTypes,
        compliance,
        gpus: gpuAvailability,
      }));
    },
    async cpus(operation, attempt) {
      const request = { name: "listCpus", operation, method: "GET", path: "/catalog/cpus" } as const;
      const { cpus } = decode(cpusSchema, await requestV2(transport, request, attempt), operation);
      return cpus.map(({ id, name = id, vcpu, ramGbPerVcpu, price }) => ({
        id,
        name,
        minVcpus: vcpu?.min,
        maxVcpus: vcpu?.max,
        memoryPerVcpu: ramGbPerVcpu,
        serverlessPricePerVcpu: price?.serverlessPerVcpu,
      }));
    },
    async pools(operation, attempt) {
      const all = await gpus(operation, 1, attempt);
      return poolsOf(all, operation);
    },
    async charges(operation, { endpointId, from, to, bucket }, attempt) {
      const query = {
        startTime: new Date(from).toISOString(),
        endTime: new Date(to).toISOString(),
        bucketSize: bucket,
        ...(endpointId !== undefined && { serverlessId: endpointId }),
      };
      const path = "/billing/serverless";
      const request = { name: "getServerlessBilling", operation, method: "GET", path, query } as const;
      const { records, metadata } = decode(billSchema, await requestV2(transport, request, attempt), operation);
      const { recordCount = records.length } = metadata ?? {};
      if (recordCount !== records.length)
        throw new UnexpectedResponseError(`${operation}: the response has ${records.length} of ${recordCount} records`);
      return records.map(({ serverlessId = UNKNOWN_ENDPOINT, startTime, totalAmount }) => ({
        endpointId: serverlessId,
        time: startTime,
        amount: totalAmount,
      }));
    },
    async limits(operation, attempt) {
      const request = { name: "getAccountLimits", operation, method: "GET", path: "/account/limits" } as const;
      return decode(limitsSchema, await requestV2(transport, request, attempt), operation);
    },
  };
}

/**
 * Returns the pools, with the GPU types of each.
 * @throws UnexpectedResponseError if a GPU type does not show its pool
 */
function poolsOf(gpus: readonly CatalogGpu[], operation: string) {
  const pools = new Map<string, string[]>();
  for (const { id, pool } of gpus) {
    if (pool === undefined) throw new UnexpectedResponseError(`${operation}: ${id} does not show its pool`);
    if (pool !== null) pools.set(pool, [...(pools.get(pool) ?? []), id]);
  }
  return [...pools].map(([id, gpuTypeIds]) => ({ id, gpuTypeIds }));
}
