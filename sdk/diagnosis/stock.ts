import { allowedDataCenters, cudaTest, gpusLeft } from "../catalog/places";
import type { CatalogGpu } from "../catalog/record";
import type { StockVerdict } from "./evidence";
import type { EndpointFacts } from "./facts";

/**
 * Returns what the catalog's stock shows about an endpoint. Stock levels are estimates, so they
 * never prove whether a worker will start.
 * @param volumes the data centers of the endpoint's volumes, if all of them are known
 */
export function judgeStock(
  { gpuIds, locations, minCudaVersion, allowedCudaVersions }: EndpointFacts,
  gpus: readonly CatalogGpu[],
  volumes: readonly string[] = [],
): StockVerdict {
  const left = gpusLeft(gpuIds, gpus);
  if (left.length === 0) return { cause: "gpu-ids", words: `the catalog has no GPU type of ${gpuIds}` };
  const ids = new Set(left.flatMap((gpu) => gpu.dataCenters.map(({ id }) => id)));
  const places = Array.from(ids, (id) => ({ id, name: id, isListed: true, compliance: [], gpus: [] }));
  const allowed = allowedDataCenters(locations, places);
  const isFree = ({ stock, dataCenters }: CatalogGpu, where: readonly string[]) =>
    // Without data centers in the catalog, only the overall stock counts.
    dataCenters.length === 0
      ? stock !== "None"
      : dataCenters.some((each) => where.includes(each.id) && each.stock !== "None");
  const where = locations === "" ? "any data center" : locations;
  if (!left.some((gpu) => isFree(gpu, allowed)))
    return { cause: "no-stock", words: `no free GPU of ${gpuIds} in ${where}` };
  const atVolumes = volumes.length > 0 ? volumes.filter((id) => allowed.includes(id)) : allowed;
  const usable = left.filter((gpu) => isFree(gpu, atVolumes));
  if (usable.length === 0)
    return {
      cause: "volume-place",
      words: `no free GPU of ${gpuIds} in ${where} at its volumes (${volumes.join(", ")})`,
    };
  const accepts = cudaTest(minCudaVersion, allowedCudaVersions);
  const hasCuda = ({ cudaVersions = [] }: CatalogGpu) =>
    cudaVersions.length === 0 || cudaVersions.some(({ version, isAvailable }) => isAvailable && accepts(version));
  if (minCudaVersion + allowedCudaVersions !== "" && !usable.some(hasCuda))
    return { cause: "cuda-version", words: `no free machine of ${gpuIds} has an accepted CUDA version` };
  return {
    cause: undefined,
    words: `in stock in ${where}: ${usable.map(({ id, stock }) => `${id} ${stock}`).join(", ")}`,
  };
}
