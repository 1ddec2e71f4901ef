import type { Endpoints } from "../endpoints/endpoints";
import { CPU_FLAVORS, cpuInstances } from "../model/cpuInstances";
import { type EndpointRecord, gpuSelection } from "../model/endpointFields";
import { pricePerGpu } from "../model/gpuTypes";

/** The limits of the account. */
export interface AccountLimits {
  /** The largest sum of `workersMax`; `undefined` for no limit. */
  workerQuota: number | undefined;
  /** The largest cost of all running workers, in US dollars an hour; `undefined` for no limit. */
  spendLimit: number | undefined;
}

/** The discount of the account (contract, Serverless endpoint). */
export interface ServerlessDiscount {
  /** The size of the discount. The contract does not show its unit. */
  readonly discountFactor: number;
  /** The kind of discount. */
  readonly type: string;
  /** The end of the discount, as a UTC timestamp. */
  readonly expirationDate: string;
}

/** What the account uses of its limits. */
export interface AccountUse {
  readonly limits: Readonly<AccountLimits>;
  /** The sum of `workersMax`. */
  readonly workers: number;
  /** The cost of all running workers, in US dollars an hour. */
  readonly spend: number;
}

/** Returns the price of one worker of an endpoint in US dollars an hour, on its first choice. */
export function workerPrice({ computeType, instanceIds, gpuIds, gpuCount }: Readonly<EndpointRecord>): number {
  if (computeType === "CPU") {
    const [cpu] = cpuInstances(instanceIds);
    return cpu ? cpu.vcpuCount * (CPU_FLAVORS[cpu.id]?.perVcpuHour ?? 0) : 0;
  }
  return pricePerGpu(gpuSelection(gpuIds).tiers[0] ?? null) * (gpuCount ?? 1);
}

/** Returns what an account uses. */
export function accountUse(endpoints: Endpoints, limits: Readonly<AccountLimits>): AccountUse {
  const all = endpoints.all();
  const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0);
  return {
    limits,
    workers: sum(all.map(({ record }) => record.workersMax)),
    spend: sum(all.map(({ record, runtime }) => workerPrice(record) * runtime.pods().length)),
  };
}

/** Returns the limits as REST v2 shows them. The names inside are not public (assumed). */
export function v2Limits({ limits, workers, spend }: AccountUse): object {
  return {
    spendRate: { limit: limits.spendLimit ?? null, current: spend },
    serverlessWorkers: { limit: limits.workerQuota ?? null, current: workers },
  };
}
