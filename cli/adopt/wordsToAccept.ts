import { checkEndpointFields, type EndpointInputOptions } from "../../sdk/endpoints/input";
import { isGpuExclusion, splitList } from "../../sdk/endpoints/normalForms";

/**
 * Returns the GPU pools in these lists that a program can only use if `acceptWords` contains them.
 * Pool names with unusual characters are left out, because the names become part of a shell command
 * in the program's header.
 */
export function wordsToAccept(gpuIds: readonly string[], accepted: EndpointInputOptions): string[] {
  const pools = gpuIds.flatMap(splitList).filter((part) => !isGpuExclusion(part) && /^\w+$/.test(part));
  return [...new Set(pools)].filter((pool) => checkEndpointFields({ gpuIds: pool }, accepted).problems.length > 0);
}
