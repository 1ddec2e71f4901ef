import { GPU_POOLS, isKnownPool } from "../contract/gpuPools";
import { DATA_CENTER_ID, GPU_TIERS, LOCATIONS } from "../contract/limits";
import { isNearMiss } from "../errors/nearestWord";
import { describe, nearest } from "../records/input";
import { isGpuExclusion, splitList } from "./normalForms";

/** The GPU pools and countries that inputs may contain in addition to the contract's. */
export interface AcceptedPlaces {
  /** GPU pools and countries that look like typos of known ones, but exist. @default none */
  readonly acceptWords?: readonly string[];
  /** Additional countries of the service. @default none */
  readonly countries?: readonly string[];
}

/** Matches the form of a GPU pool: its generation and its memory, as in `ADA_48_PRO` (observed). */
const POOL_FORM = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/;

/** Returns the problems with a list of GPU pools and of excluded GPU types. */
export function gpuIdProblems(value: string | string[], { acceptWords = [] }: AcceptedPlaces): string[] {
  // An empty value means that the endpoint runs on CPUs.
  if (value === "") return [];
  const parts = splitList(value);
  const pools = parts.filter((part) => !isGpuExclusion(part));
  if (parts.includes("-")) return ['"-" excludes nothing: write the GPU type after the minus, as in "-NVIDIA L4"'];
  if (pools.length === 0) return [`must contain at least one GPU pool: ${GPU_TIERS.join(", ")}`];
  return pools.flatMap((pool) => poolProblem(pool, acceptWords) ?? []);
}

/**
 * Returns a warning for each GPU pool that this version does not know. New pools appear between
 * releases, and the service refuses a pool that it does not have.
 */
export function newPoolWarnings(gpuIds: unknown, { acceptWords = [] }: AcceptedPlaces): string[] {
  if (typeof gpuIds !== "string") return [];
  return splitList(gpuIds)
    .filter((part) => !isGpuExclusion(part) && !isKnownPool(part) && !acceptWords.includes(part))
    .map(
      (pool) =>
        `gpuIds contains ${pool}, a GPU pool that this version does not know. The service decides whether it exists`,
    );
}

function poolProblem(pool: string, acceptWords: readonly string[]): string | undefined {
  const known = [...new Set([...GPU_TIERS, ...acceptWords])];
  if (known.includes(pool)) return undefined;
  const ofType = poolOfType(pool);
  if (ofType !== undefined) {
    return `${describe(pool)} is a GPU type, not a GPU pool. Did you mean ${ofType}, the pool that contains it?`;
  }
  if (POOL_FORM.test(pool) && !isNearMiss(pool, known)) return undefined;
  return (
    `${describe(pool)} is not a known GPU pool. ${nearest(pool, known)} ` +
    "If the service has this pool, add it to serverless-gpu:acceptWords"
  );
}

/** Returns the only pool that has GPU types with all these words, such as `RTX 4090` or `H100`. */
function poolOfType(text: string): string | undefined {
  const words = wordsOf(text).filter((word) => word !== "NVIDIA");
  const contains = (type: string) => words.every((word) => wordsOf(type).includes(word));
  const [pool, another] = Object.entries(GPU_POOLS).filter(([, { types }]) => types.some(contains));
  return another === undefined ? pool?.[0] : undefined;
}

function wordsOf(text: string): string[] {
  return text.toUpperCase().match(/[A-Z0-9]+/g) ?? [];
}

/**
 * Returns the problems with a list of countries and data centers. Every country code is at most two
 * edits away from every other one, so an unknown country is never merely new.
 */
export function locationProblems(
  value: string | string[],
  { acceptWords = [], countries = [] }: AcceptedPlaces,
): string[] {
  const known = [...new Set([...LOCATIONS, ...countries, ...acceptWords])];
  return splitList(value)
    .filter((part) => !known.includes(part) && !DATA_CENTER_ID.test(part))
    .map(
      (part) =>
        `${describe(part)} is neither a known country nor the id of a data center (such as EU-RO-1). ${nearest(part, known)} ` +
        "If the service has this country, add it to serverless-gpu:acceptWords",
    );
}
