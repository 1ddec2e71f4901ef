import { FLASH_BOOT_TYPES, GPU_TIERS, LOCATIONS, SCALER_TYPES } from "./limits";

/** Completes to the known words in an editor, yet takes any other text: the service adds words over time. */
export type OpenEnum<T extends string> = T | (string & {});

/**
 * A GPU tier of the contract, named by its GPU generation and memory in GB.
 * @useDeclaredType
 */
export type GpuTier = keyof typeof GPU_TIERS;
/** The GPU tiers of the contract, for programs that rather write `GpuTier.AMPERE_24` than the text. */
export const GpuTier: { readonly [K in GpuTier]: K } = byName(Object.keys(GPU_TIERS) as GpuTier[]);

/**
 * A country that `locations` takes.
 * @useDeclaredType
 */
export type Location = (typeof LOCATIONS)[number];
/** The countries that `locations` takes. */
export const Location: { readonly [K in Location]: K } = byName(LOCATIONS);

/**
 * How the number of workers follows the load.
 * @useDeclaredType
 */
export type ScalerType = (typeof SCALER_TYPES)[number];
/** `QUEUE_DELAY`: by how long jobs wait. `REQUEST_COUNT`: by how many jobs there are. */
export const ScalerType: { readonly [K in ScalerType]: K } = byName(SCALER_TYPES);

/**
 * Whether cold starts are shortened.
 * @useDeclaredType
 */
export type FlashBootType = (typeof FLASH_BOOT_TYPES)[number];
/** `FLASHBOOT`: shorter cold starts. `OFF`: without. */
export const FlashBootType: { readonly [K in FlashBootType]: K } = byName(FLASH_BOOT_TYPES);

function byName<T extends string>(words: readonly T[]): { readonly [K in T]: K } {
  return Object.fromEntries(words.map((word) => [word, word])) as { readonly [K in T]: K };
}
