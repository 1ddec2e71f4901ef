// Submits jobs to an endpoint that never starts one, waits for all of them at once, and reports its
// largest heap while waiting, in bytes. Arguments: URL, endpoint, number of jobs, seconds.
const { createClient } = require("../../dist/sdk");

async function main() {
  const [, , queueUrl, endpointId = "", jobs, seconds] = process.argv;
  const apiKey = process.env.SERVERLESS_GPU_API_KEY ?? "";
  const client = createClient({ apiKey, queueUrl, rateLimits: "off" });
  const endpoint = client.endpoint(endpointId);
  let submitted = 0;
  let largestHeap = 0;
  const measure = () => {
    largestHeap = Math.max(largestHeap, process.memoryUsage().heapUsed);
  };
  setInterval(measure, 50);
  /** @type {Promise<unknown>[]} */
  const waits = [];
  const submitter = async () => {
    while (submitted++ < Number(jobs)) waits.push((await endpoint.run({ input: { submitted } })).wait());
  };
  await Promise.all(Array.from({ length: 50 }, submitter));
  await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
  process.send?.({ largestHeap, waiting: waits.length });
}

main();
