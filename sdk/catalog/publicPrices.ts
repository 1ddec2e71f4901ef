/**
 * A price table in US dollars per second. The entry of a GPU pool is the price of a worker with one
 * GPU, and the entry of a CPU instance is the price of a CPU worker.
 */
export interface Prices {
  /** The date of the price table, such as `2026-06-08`. */
  readonly date: string;
  readonly perSecond: Readonly<Record<string, number>>;
}

/** RunPod's public price table. It does not include prices of CPU workers. */
export const PUBLIC_PRICES: Prices = {
  date: "2026-06-08",
  perSecond: {
    AMPERE_16: 0.00016,
    AMPERE_24: 0.00019,
    ADA_24: 0.00031,
    AMPERE_48: 0.00034,
    ADA_48_PRO: 0.00053,
    AMPERE_80: 0.00076,
    ADA_80_PRO: 0.00116,
    BLACKWELL_96: 0.00111,
    HOPPER_141: 0.00155,
    BLACKWELL_180: 0.0024,
  },
};
