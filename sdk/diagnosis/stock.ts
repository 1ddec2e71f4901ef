import { allowedDataCenters, cudaTest, gpusLeft } from "../catalog/places";
import type { CatalogGpu } from "../catalog/record";
import type { CauseId } from "./causes";
import type { EndpointFacts, StockFacts } from "./evidence";

/** What the catalog shows about the machines that an endpoint can use. */
export interface StockVerdict {
  /** The reason why no machine is available, if the catalog shows one. */
  readonly cause: Extract<CauseId, "no-stock" | "cuda-version" | "volume-place" | "compliance"> | undefined;
  /** A description of what the catalog shows. */
  readonly words: string;
}

/**
 * Returns what the stock shows about an endpoint. Stock levels are estimates, so they never prove
 * whether a worker will start.
 */
export function judgeStock(endpoint: EndpointFacts, facts: StockFacts): StockVerdict | undefined {
  const { gpuIds, locations } = endpoint;
  const left = gpusLeft(gpuIds, facts.gpus);
  if (gpuIds === "" || left.length === 0) return undefined;
  const places = placesOf(facts, left);
  const allowed = new Set(allowedDataCenters(locations, places));
  const within = (ids: ReadonlySet<string>) => left.filter((gpu) => isFree(gpu, ids, places.length === 0));
  const inLocations = within(allowed);
  const where = locations === "" ? "any data center" : locations;
  if (inLocations.length === 0) return { cause: "no-stock", words: `no free GPU of ${gpuIds} in ${where}` };
  const volumes = facts.volumeDataCenters;
  const atVolumes = volumes?.length ? new Set(volumes.filter((id) => allowed.has(id))) : allowed;
  const usable = within(atVolumes);
  if (usable.length === 0)
    return { cause: "volume-place", words: `no free GPU of ${gpuIds} at its volumes (${volumes?.join(", ")})` };
  if (lacksCuda(endpoint, usable))
    return { cause: "cuda-version", words: `no free machine of ${gpuIds} has an accepted CUDA version` };
  if (lacksCompliance(endpoint, usable, atVolumes, facts))
    return { cause: "compliance", words: `no data center in stock has ${endpoint.compliance.join(", ")}` };
  const levels = usable.map(({ id, stock }) => `${id} ${stock}`);
  return { cause: undefined, words: `in stock in ${where}: ${levels.join(", ")}` };
}

/**
 * Returns the data centers of the catalog or, if the catalog has none, the data centers that its
 * GPU types name.
 */
function placesOf({ dataCenters }: StockFacts, left: readonly CatalogGpu[]) {
  if (dataCenters && dataCenters.length > 0) return dataCenters;
  const ids = new Set(left.flatMap((gpu) => gpu.dataCenters.map(({ id }) => id)));
  return Array.from(ids, (id) => ({ id, name: id, isListed: true, compliance: [], gpus: [] }));
}

/**
 * Returns `true` if a GPU type is in stock.
 * @param anywhere `true` if the catalog shows no data centers, in which case only the overall stock
 * counts
 */
function isFree(gpu: CatalogGpu, ids: ReadonlySet<string>, anywhere: boolean): boolean {
  if (anywhere || gpu.dataCenters.length === 0) return gpu.stock !== "None";
  return gpu.dataCenters.some(({ id, stock }) => ids.has(id) && stock !== "None");
}

function lacksCuda({ minCudaVersion, allowedCudaVersions }: EndpointFacts, usable: readonly CatalogGpu[]): boolean {
  if (minCudaVersion === "" && allowedCudaVersions === "") return false;
  const accepts = cudaTest(minCudaVersion, allowedCudaVersions);
  return usable.every(
    ({ cudaVersions = [] }) =>
      cudaVersions.length > 0 && !cudaVersions.some(({ version, isAvailable }) => isAvailable && accepts(version)),
  );
}

function lacksCompliance(
  { compliance }: EndpointFacts,
  usable: readonly CatalogGpu[],
  allowed: ReadonlySet<string>,
  { dataCenters = [] }: StockFacts,
): boolean {
  if (compliance.length === 0 || dataCenters.length === 0) return false;
  const labels = new Map(dataCenters.map((place) => [place.id, place.compliance]));
  const inStock = usable.flatMap((gpu) =>
    gpu.dataCenters.filter(({ id, stock }) => allowed.has(id) && stock !== "None"),
  );
  return !inStock.some(({ id }) => compliance.every((label) => labels.get(id)?.includes(label)));
}
