import { allows, cudaTest, gpusLeft } from "../catalog/places";
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
  const where = locations === "" ? "any data center" : locations;
  const isAllowed = allows(locations);
  if (volumes.length > 0 && !volumes.some(isAllowed))
    return { cause: "volume-place", words: `its volumes are in ${volumes.join(", ")}, and its workers in ${where}` };
  if (gpuIds === "") return { cause: undefined, words: "" };
  const left = gpusLeft(gpuIds, gpus);
  if (left.length === 0) return { cause: "gpu-ids", words: `the catalog has no GPU type of ${gpuIds}` };
  const isAtVolumes = (id: string) => isAllowed(id) && (volumes.length === 0 || volumes.includes(id));
  const isFree = ({ stock, dataCenters }: CatalogGpu, isUsable: (id: string) => boolean) =>
    // Without data centers in the catalog, only the overall stock counts.
    dataCenters.length === 0
      ? stock !== "None"
      : dataCenters.some((each) => isUsable(each.id) && each.stock !== "None");
  const words = `no free GPU of ${gpuIds} in ${where}`;
  if (!left.some((gpu) => isFree(gpu, isAllowed))) return { cause: "no-stock", words };
  const usable = left.filter((gpu) => isFree(gpu, isAtVolumes));
  if (usable.length === 0) return { cause: "volume-place", words: `${words} at its volumes (${volumes.join(", ")})` };
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
