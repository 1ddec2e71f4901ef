// A worker that speaks the service's worker protocol with nothing but Node.js. Its jobs say what to
// do.
const { setTimeout: sleep } = require("node:timers/promises");
const { RUNPOD_WEBHOOK_GET_JOB = "", RUNPOD_WEBHOOK_POST_OUTPUT = "", RUNPOD_WEBHOOK_POST_STREAM = "" } = process.env;
const authorization = process.env.RUNPOD_AI_API_KEY ?? "";
const size = Number(process.env.WORKER_SIZE ?? 1);
let inHand = 0;
let isStopping = false;

process.on("SIGTERM", () => {
  isStopping = process.env.WORKER_IGNORES_SIGTERM === undefined;
});

/** @type {(url: string, id: string, body: object) => Promise<unknown>} */
const post = (url, id, body) =>
  fetch(url.replace("$ID", id), { method: "POST", headers: { authorization }, body: JSON.stringify(body) });

/** @param {{ id: string, input: Record<string, any> }} job */
async function work({ id, input }) {
  const done = (/** @type {object} */ body) => post(RUNPOD_WEBHOOK_POST_OUTPUT, id, body);
  if (input.print) console.log(input.print);
  if (input.exit !== undefined) process.exit(input.exit);
  if (input.progress) await done({ status: "IN_PROGRESS", output: input.progress });
  for (const item of input.items ?? []) await post(RUNPOD_WEBHOOK_POST_STREAM, id, { output: item });
  if (input.sleep) await sleep(input.sleep);
  if (input.error) return done({ error: input.error });
  const output = input.env ? process.env : { echo: input.echo, pid: process.pid };
  return done({ output, ...(input.refresh && { stopPod: true }) });
}

async function main() {
  while (!isStopping) {
    const free = size - inHand;
    if (free === 0) {
      await sleep(10);
      continue;
    }
    const url = RUNPOD_WEBHOOK_GET_JOB.replace("job-take", size > 1 ? "job-take-batch" : "job-take");
    const response = await fetch(`${url}&batch_size=${free}`, { headers: { authorization } });
    if (response.status !== 200) continue;
    const jobs = await response.json();
    for (const job of Array.isArray(jobs) ? jobs : [jobs]) {
      inHand += 1;
      void work(job).finally(() => {
        inHand -= 1;
      });
    }
  }
  while (inHand > 0) await sleep(10);
  process.exit(0);
}

main();
