// Runs a batch of jobs, and reports its results and the heap after each tenth of them, in bytes.
// Run it with --expose-gc. Arguments: URL, endpoint, number of jobs.
const { createClient, SubmitUncertainError } = require("../../dist/sdk");

async function main() {
  const [, , queueUrl, endpointId = "", count] = process.argv;
  const jobs = Number(count);
  const client = createClient({ apiKey: process.env.SERVERLESS_GPU_API_KEY ?? "", queueUrl });
  function* inputs() {
    for (let number = 0; number < jobs; number++) yield { number };
  }
  const batch = client.endpoint(endpointId).runMany(inputs(), { concurrency: 200 });
  const heaps = [];
  const found = { completed: 0, uncertain: 0, failed: 0 };
  const startedAt = performance.now();
  let results = 0;
  for await (const { error } of batch) {
    if (!error) found.completed++;
    else if (error instanceof SubmitUncertainError) found.uncertain++;
    else found.failed++;
    if (++results % (jobs / 10) !== 0) continue;
    global.gc?.();
    heaps.push(process.memoryUsage().heapUsed);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await client.close();
  process.send?.({ ...found, heaps, seconds });
}

main();
