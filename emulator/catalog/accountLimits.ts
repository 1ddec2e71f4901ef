import type { Endpoints } from "../endpoints/endpoints";
import { CPU_FLAVORS, cpuInstances } from "../model/cpuInstances";
import { type EndpointRecord, gpuSelection } from "../model/endpointFields";
import { pricePerGpu } from "../model/gpuTypes";

/** The limits of the account. */
export interface AccountLimits {
  /** The highest total of `workersMax`; `undefined` for no limit. */
  workerQuota: number | undefined;
  /** The highest cost of all running workers, in US dollars an hour; `undefined` for no limit. */
  spendLimit: number | undefined;
}

/** The account's discount (contract, Serverless endpoint). */
export interface ServerlessDiscount {
  /** The size of the discount. The contract does not specify its unit. */
  readonly discountFactor: number;
  /** The kind of discount. */
  readonly type: string;
  /** When the discount ends, as a UTC timestamp. */
  readonly expirationDate: string;
}

/** How much of its limits the account uses. */
export interface AccountUse {
  readonly limits: Readonly<AccountLimits>;
  /** The total of `workersMax`. */
  readonly workers: number;
  /** The cost of all running workers, in US dollars an hour. */
  readonly spend: number;
}

/**
 * Returns the price of one worker on the endpoint's first choice of hardware, in US dollars an
 * hour.
 */
export function workerPrice({ computeType, instanceIds, gpuIds, gpuCount }: Readonly<EndpointRecord>): number {
  if (computeType === "CPU") {
    const [cpu] = cpuInstances(instanceIds);
    return cpu ? cpu.vcpuCount * (CPU_FLAVORS[cpu.id]?.perVcpuHour ?? 0) : 0;
  }
  return pricePerGpu(gpuSelection(gpuIds).tiers[0] ?? null) * (gpuCount ?? 1);
}

/** Returns how much of its limits the account uses. */
export function accountUse(endpoints: Endpoints, limits: Readonly<AccountLimits>): AccountUse {
  const all = endpoints.all();
  const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0);
  return {
    limits,
    workers: sum(all.map(({ record }) => record.workersMax)),
    spend: sum(all.map(({ record, runtime }) => workerPrice(record) * runtime.pods().length)),
  };
}

/** Returns the limits in the form of REST v2. The field names are not public (assumed). */
export function v2Limits({ limits, workers, spend }: AccountUse): object {
  return {
    spendRate: { limit: limits.spendLimit ?? null, current: spend },
    serverlessWorkers: { limit: limits.workerQuota ?? null, current: workers },
  };
}
