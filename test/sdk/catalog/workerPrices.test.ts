import type { CatalogGpu } from "../../../sdk/catalog/record";
import { catalogPrices, PUBLIC_PRICE_SOURCE, tablePrices, workerPrices } from "../../../sdk/catalog/workerPrices";

const gpu = (id: string, pool: string | null | undefined, serverlessPrice?: number): CatalogGpu => ({
  id,
  name: id,
  pool,
  serverlessPrice,
  stock: "High",
  dataCenters: [],
});

const CATALOG = catalogPrices(
  {
    gpus: [
      gpu("RTX 4090", "ADA_24", 1.1),
      gpu("RTX 4080", "ADA_24", 0.9),
      gpu("RTX 5090", "ADA_32_PRO", 1.58),
      gpu("L40", "ADA_48_PRO"),
      gpu("B300", "NO_SUCH_POOL_0"),
      gpu("Pod GPU", null, 9),
    ],
    cpus: [{ id: "cpu3c", name: "Compute", serverlessPricePerVcpu: 0.03 }],
  },
  "the catalog",
);
const GIVEN = tablePrices({ date: "2026-01-01", perSecond: { ADA_24: 0.001, "cpu3c-2-4": 0.002 } }, "prices.json");

const priced = (
  given: { gpuIds?: string; gpuCount?: number; instanceIds?: string },
  sources = [CATALOG, PUBLIC_PRICE_SOURCE],
) =>
  workerPrices({ gpuIds: "", gpuCount: 1, instanceIds: "", ...given }, sources).map(({ tier, perHour, source }) => [
    tier,
    perHour,
    source,
  ]);

const PUBLIC = "the public price table of 2026-06-08";

test("a worker costs as much as the most expensive GPU type that is left in the pool, for each of its GPUs", () => {
  expect(priced({ gpuIds: "ADA_24" })).toEqual([["ADA_24", 1.1, "the catalog"]]);
  expect(priced({ gpuIds: "ADA_24,-RTX 4090", gpuCount: 2 })).toEqual([["ADA_24", 1.8, "the catalog"]]);
});

test("each pool has its own price, in the order of the settings", () => {
  expect(priced({ gpuIds: "ADA_32_PRO,ADA_24" })).toEqual([
    ["ADA_32_PRO", 1.58, "the catalog"],
    ["ADA_24", 1.1, "the catalog"],
  ]);
});

test("a pool whose price the catalog does not show has the public price, and without one none", () => {
  expect(priced({ gpuIds: "ADA_48_PRO" })).toEqual([["ADA_48_PRO", 1.908, PUBLIC]]);
  expect(priced({ gpuIds: "NO_SUCH_POOL_0" })).toEqual([["NO_SUCH_POOL_0", undefined, undefined]]);
  expect(priced({ gpuIds: "AMPERE_16" }, [])).toEqual([["AMPERE_16", undefined, undefined]]);
  expect(priced({ gpuIds: "constructor" })).toEqual([["constructor", undefined, undefined]]);
});

test("a pool whose GPU types are all excluded is left out, unless no other pool is left", () => {
  const exclusions = "-RTX 4090,-RTX 4080";
  expect(priced({ gpuIds: `ADA_24,ADA_32_PRO,${exclusions}` })).toEqual([["ADA_32_PRO", 1.58, "the catalog"]]);
  expect(priced({ gpuIds: `ADA_24,${exclusions}` })).toEqual([["ADA_24", 1.116, PUBLIC]]);
});

test("a CPU worker costs as much as its vCPUs, and the public table has no price for it", () => {
  expect(priced({ instanceIds: "cpu3c-4-8, cpu5c-2-4" })).toEqual([
    ["cpu3c-4-8", 0.12, "the catalog"],
    ["cpu5c-2-4", undefined, undefined],
  ]);
});

test("a table names the price of one GPU, or of a whole CPU worker", () => {
  expect(priced({ gpuIds: "ADA_24,ADA_32_PRO", gpuCount: 2 }, [GIVEN])).toEqual([
    ["ADA_24", 7.2, "prices.json of 2026-01-01"],
    ["ADA_32_PRO", undefined, undefined],
  ]);
  expect(priced({ instanceIds: "cpu3c-2-4", gpuCount: 2 }, [GIVEN])).toEqual([
    ["cpu3c-2-4", 7.2, "prices.json of 2026-01-01"],
  ]);
});
