import { playSequences } from "../../faults/jobSequences";

/** A short version of the campaign of the same name. */
test.each([
  1, 2, 3,
])("programs on an unreliable network neither duplicate nor silently lose jobs, seed %d", async (seed) => {
  await playSequences(seed, 12);
}, 120_000);
