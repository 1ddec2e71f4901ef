// One of several processes that share a batch. It is killed at any moment and started again.
// Arguments: the service's URL, the endpoint, the number of jobs, the database's URL, and the file
// to which it appends the number of each result. Reports its heap after each tenth of the jobs, in
// bytes, if it has an IPC channel.
const { appendFileSync } = require("node:fs");
const { Pool } = require("pg");
const { createClient, postgresJournal } = require("../../dist/sdk");

async function main() {
  const [, , queueUrl, endpointId = "", count, connectionString, sink = ""] = process.argv;
  const jobs = Number(count);
  const client = createClient({ apiKey: process.env.SERVERLESS_GPU_API_KEY ?? "", queueUrl, rateLimits: "off" });
  const pool = new Pool({ connectionString, max: 4 });
  function* inputs() {
    for (let n = 0; n < jobs; n++) {
      if (n % Math.ceil(jobs / 10) === 0) process.send?.({ heap: process.memoryUsage().heapUsed });
      yield { n };
    }
  }
  const journal = postgresJournal({ pool, leaseMs: Number(process.env.LEASE_MS ?? 10_000) });
  const batch = client.endpoint(endpointId).runMany(inputs(), { journal, batch: "campaign", concurrency: 100 });
  const uncertain = [];
  for await (const { key, input, error } of batch) {
    if (!error) appendFileSync(sink, `${input.n}\n`);
    else uncertain.push(key);
  }
  process.send?.({ counts: batch.counts, uncertain });
  await client.close();
  await pool.end();
  process.disconnect?.();
}

main();
