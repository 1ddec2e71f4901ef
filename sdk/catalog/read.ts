import type { Catalog, GpuOptions } from "./catalog";
import type { CatalogGpu } from "./record";

/**
 * Returns the GPU types with their pools. Reading the pools may take a second request.
 * @throws the error of either request
 */
export async function readGpus(catalog: Catalog, options: GpuOptions): Promise<CatalogGpu[]> {
  const gpus = await catalog.gpus(options);
  if (gpus.every(({ pool }) => pool !== undefined)) return gpus;
  const { gpuCount: _, ...others } = options;
  const pools = await catalog.pools(others);
  return gpus.map((gpu) => ({
    ...gpu,
    pool: pools.find(({ gpuTypeIds }) => gpuTypeIds.includes(gpu.id))?.id ?? null,
  }));
}
