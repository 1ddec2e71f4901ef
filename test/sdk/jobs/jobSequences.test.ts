import { playSequences } from "../../faults/jobSequences";

/** A short version of the campaign of the same name. */
test.each([1, 2, 3])("nothing is doubled or lost in silence by programs on a bad network, seed %d", async (seed) => {
  await playSequences(seed, 12);
}, 120_000);
