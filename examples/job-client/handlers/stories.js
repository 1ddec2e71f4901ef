// The workers of the emulated endpoint "stories" write a story word by word. The first attempt at a
// difficult story fails.
const tried = new Set();

/** @type {import("pulumi-serverless-gpu/emulator").Handler} */
module.exports = async function* (job, { sleep }) {
  const { words, difficult } = /** @type {{ words: string[], difficult?: boolean }} */ (job.input);
  if (difficult && !tried.has(job.id)) {
    tried.add(job.id);
    throw new Error("ran out of ideas");
  }
  for (const word of words) {
    await sleep(50);
    yield word;
  }
  return { story: words.join(" ") };
};
