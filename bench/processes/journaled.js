// Runs a batch of jobs with or without a journal, and reports the seconds that it took and the heap
// after each tenth, in bytes. Run it with --expose-gc. Arguments: URL, endpoint, number of jobs,
// and the journal: none, a file, or the URL of a database.
const { createClient, fileJournal, postgresJournal } = require("../../dist/sdk");

/** @param {string} place */
async function journalOf(place) {
  if (!place.startsWith("postgres://")) return { journal: fileJournal(place), end: async () => {} };
  const { Pool } = require("pg");
  const pool = new Pool({ connectionString: place, max: 4 });
  const journal = postgresJournal({ pool });
  await journal.migrate();
  return { journal, end: () => pool.end() };
}

async function main() {
  const [, , queueUrl, endpointId = "", count, place = "none"] = process.argv;
  const jobs = Number(count);
  const limits = process.env.LIMITS === "off" ? { rateLimits: /** @type {const} */ ("off") } : {};
  const client = createClient({ apiKey: process.env.SERVERLESS_GPU_API_KEY ?? "", queueUrl, ...limits });
  function* inputs() {
    for (let number = 0; number < jobs; number++) yield { number };
  }
  const opened = place === "none" ? undefined : await journalOf(place);
  const journaled = opened && { journal: opened.journal, batch: `bench ${process.pid} ${Date.now()}` };
  const batch = client.endpoint(endpointId).runMany(inputs(), { concurrency: 200, ...journaled });
  const heaps = [];
  const startedAt = performance.now();
  let results = 0;
  for await (const { error } of batch) {
    if (error) throw error;
    if (++results % Math.floor(jobs / 10) !== 0) continue;
    global.gc?.();
    heaps.push(process.memoryUsage().heapUsed);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await client.close();
  await opened?.end();
  process.send?.({ seconds, heaps, results });
}

main();
