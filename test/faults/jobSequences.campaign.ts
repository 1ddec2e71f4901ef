import { playSequences } from "./jobSequences";

/** The seeds that have been played without a failure. For others, set `JOB_SEEDS=5000-5100`. */
const RECORDED = "1-60";

const [first = 1, last = first] = (process.env.JOB_SEEDS ?? RECORDED).split("-").map(Number);
const SEEDS = Array.from({ length: last - first + 1 }, (_, n) => first + n);

test.concurrent.each(
  SEEDS,
)("programs of submits, retries, purges, streams and closes on a bad network, seed %d", async (seed) => {
  await playSequences(seed, 25);
}, 900_000);
