import type { Attempt, CallContext } from "../transport/call";
import { type OptionChecks, REQUEST_OPTIONS, wholeFrom } from "../transport/callOptions";
import { makeCall } from "../transport/makeCall";
import { type RequestOptions, requestOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";
import type { AccountLimits, CatalogCpu, CatalogDataCenter, CatalogGpu, CatalogPool, Spend } from "./record";
import { createSpend, type ReadCharges, type SpendOptions } from "./spend";

/** The options of `catalog.gpus()`. */
export interface GpuOptions extends RequestOptions {
  /** The number of GPUs per worker for which to return the stock (integer, ≥ 1). @default 1 */
  readonly gpuCount?: number | undefined;
}

/**
 * Reads RunPod's catalog. Prices and stock change within hours. Stock is an estimate at the time of
 * the read and does not reserve anything.
 */
export interface Catalog {
  /**
   * Returns the GPU types, with their stock for workers.
   * @throws RejectedError or NotFoundError if the service has no catalog
   */
  gpus(options?: GpuOptions): ResponsePromise<CatalogGpu[]>;
  /**
   * Returns the data centers.
   * @throws RejectedError or NotFoundError if the service has no catalog
   */
  dataCenters(options?: RequestOptions): ResponsePromise<CatalogDataCenter[]>;
  /**
   * Returns the CPU flavors.
   * @throws RejectedError or NotFoundError if the service has no catalog
   */
  cpus(options?: RequestOptions): ResponsePromise<CatalogCpu[]>;
  /**
   * Returns the GPU pools, with the GPU types of each pool.
   * @throws RejectedError or NotFoundError if the service has no catalog
   */
  pools(options?: RequestOptions): ResponsePromise<CatalogPool[]>;
}

/** Reads information about the account. */
export interface Account {
  /**
   * Returns the account's limits, as far as RunPod shows them.
   * @throws AuthenticationError if the key lacks the permission
   * @throws RejectedError or NotFoundError if the service does not show them
   */
  limits(options?: RequestOptions): ResponsePromise<AccountLimits>;
  /**
   * Returns the id of the account that the key belongs to. REST v2 does not show it, so this call
   * always uses GraphQL.
   * @throws AuthenticationError if the key is not accepted
   * @throws RejectedError or NotFoundError if the service does not show it
   */
  id(options?: RequestOptions): ResponsePromise<string>;
  /**
   * Returns what endpoints have cost, as far as RunPod has billed it. A charge can appear an hour
   * late. GraphQL does not say how far back its records go.
   * @throws UnexpectedResponseError if the response is incomplete, because the amount would be too
   * low
   * @throws RejectedError or NotFoundError if the service does not show it
   */
  spend(options?: SpendOptions): ResponsePromise<Spend>;
}

/** The requests for the catalog. Each function sends one request, without retries. */
export interface CatalogCalls {
  readonly gpus: (operation: string, gpuCount: number, attempt: Attempt) => Promise<CatalogGpu[]>;
  readonly dataCenters: (operation: string, attempt: Attempt) => Promise<CatalogDataCenter[]>;
  readonly cpus: (operation: string, attempt: Attempt) => Promise<CatalogCpu[]>;
  readonly pools: (operation: string, attempt: Attempt) => Promise<CatalogPool[]>;
  readonly limits: (operation: string, attempt: Attempt) => Promise<AccountLimits>;
  readonly charges: ReadCharges;
  readonly accountId: (operation: string, attempt: Attempt) => Promise<string>;
}

const GPU_OPTIONS: OptionChecks<GpuOptions> = { ...REQUEST_OPTIONS, gpuCount: wholeFrom(1) };

/** Returns the functions that read the catalog of a service and the limits of an account. */
export function createCatalog(context: CallContext, calls: CatalogCalls): { catalog: Catalog; account: Account } {
  /** Returns a function that sends a request without arguments. */
  function reading<T>(name: string, operation: string, send: (operation: string, attempt: Attempt) => Promise<T>) {
    return (given?: RequestOptions) =>
      checkedCall(given, REQUEST_OPTIONS, (options) =>
        makeCall(context, {
          ...requestOptions(options),
          name,
          operation,
          repeatability: "safe",
          attempt: (attempt) => send(operation, attempt),
        }),
      );
  }

  return {
    catalog: {
      gpus: (given) =>
        checkedCall(given, GPU_OPTIONS, ({ gpuCount = 1, ...options }) => {
          const operation = "the catalog of GPU types";
          return makeCall(context, {
            ...requestOptions(options),
            name: "gpuTypes",
            operation,
            repeatability: "safe",
            attempt: (attempt) => calls.gpus(operation, gpuCount, attempt),
          });
        }),
      dataCenters: reading("dataCenters", "the catalog of data centers", calls.dataCenters),
      cpus: reading("cpuFlavors", "the catalog of CPU flavors", calls.cpus),
      pools: reading("serverlessGpuPools", "the catalog of GPU pools", calls.pools),
    },
    account: {
      limits: reading("limits", "the limits of the account", calls.limits),
      id: reading("myself", "the id of the account", calls.accountId),
      spend: createSpend(context, calls.charges),
    },
  };
}
