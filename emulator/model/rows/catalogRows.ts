import { assumed, documented, observed } from "./level";

/**
 * The catalog and the account's limits. "Documented" here means in the service's own documentation,
 * which the contract does not include.
 */
export const catalog = {
  "catalog.public": observed(
    "GraphQL answers gpuTypes, dataCenters and cpuFlavors without a key, in the observed profile only.",
  ),
  "catalog.pools": observed(
    "serverlessGpuPools names the GPU types of each pool. A type in no pool cannot be used, whatever its stock says.",
  ),
  "catalog.pools-key": assumed("serverlessGpuPools needs a key."),
  "catalog.stock": observed("Stock is High, Medium or Low; for none, GraphQL says null and REST v2 NONE."),
  "catalog.best": assumed("The stock of a GPU type is the best of its data centers and CUDA versions that fit."),
  "catalog.default": assumed("Without a fault rule, stock is High everywhere; a machine has at most 8 GPUs."),
  "catalog.absent": assumed("A data center or a CUDA version that does not offer a type is not in the type's list."),
  "catalog.sold-out": assumed("No worker starts where stock is None (soldOut) or Absent. Jobs wait, without an error."),
  "catalog.v2-parameters": documented(
    "include and product must be used together, and cudaVersions and minCudaVersion must not; otherwise 400.",
  ),
  "catalog.v2-price": documented("price.serverless is US dollars an hour for one GPU; a type without a pool has none."),
  "catalog.v2-volumes": documented("networkVolumeTypes of a data center is empty if it has no network volumes."),
  "account.limits": observed("GraphQL's myself shows the worker quota, the spend limit and the current spend."),
  "account.limits-v2": assumed(
    "/v2/account/limits returns spendRate and serverlessWorkers, each with limit and current.",
  ),
  "billing.buckets": documented(
    "/v2/billing/serverless returns one record per endpoint and bucket; startTime is snapped down and endTime up to a bucket. The default is 30 days in buckets of a day.",
  ),
  "billing.last-n": documented(
    "lastN ends with the current bucket and excludes startTime and endTime; the status 400 is assumed.",
  ),
  "billing.invalid": assumed("An unknown bucketSize, a time that is not RFC 3339, or a lastN below 1 returns 422."),
  "billing.graphql": observed(
    "GraphQL's myself.billing.serverless shows amount and seconds per bucket, in the observed profile only.",
  ),
  "billing.graphql-all": assumed("GraphQL's billing has no window and shows all buckets."),
  "billing.late": assumed("A charge is shown when the hour in which it arose has ended."),
  "billing.workers": assumed(
    "A worker is billed from the start of its container to its end, at the price of the endpoint's first choice.",
  ),
  "billing.deleted": assumed("The records of a deleted endpoint remain."),
  "account.spend-limit": documented("A worker whose start would exceed the spend limit does not start; jobs wait."),
};
