import { createClient, JobFailedError, settingsFromEnvironment } from "pulumi-serverless-gpu/sdk";
import { z } from "zod";

// `npm start` runs this against the emulator. With SERVERLESS_GPU_API_KEY, SERVERLESS_GPU_QUEUE_URL
// (or SERVERLESS_GPU_SERVICE) and an endpoint id as its argument, it runs against a service.
const client = createClient({
  ...settingsFromEnvironment(),
  onRequest: ({ operation, attempt, status, error }) => console.error(`  ${operation} #${attempt}: ${status ?? error}`),
});
const stories = client.endpoint(process.argv[2] ?? "story-endpoint");
const schema = z.object({ story: z.string() });
const input = { words: ["Once", "upon", "a", "time"] };

async function main() {
  // Submit, do something else, then wait. The output has the schema's type.
  const job = await stories.run({ input }, { schema });
  const hoursLeft = ((job.expiresAt?.getTime() ?? 0) - Date.now()) / 3_600_000;
  console.log(`submitted: known to the service for ${Math.round(hoursLeft)} hours at most`);
  const { output } = await job.wait({ timeoutMs: 60_000 });
  console.log(`waited: "${output.story}"`);

  // Submit and wait in one request.
  const inOneGo = await stories.runSync({ input }, { schema, timeoutMs: 60_000 });
  console.log(`in one go: "${inOneGo.output.story}"`);

  // Read the output while it is produced.
  const streaming = await stories.run({ input });
  const words: string[] = [];
  for await (const item of streaming.stream({ schema: z.string() })) words.push(item.output);
  console.log(`streamed: ${words.join(", ")}`);

  // A failed job can be run again, with the same id and input.
  const difficult = await stories.run({ input: { ...input, difficult: true } }, { schema });
  try {
    await difficult.wait();
  } catch (error) {
    if (!(error instanceof JobFailedError)) throw error;
    console.log(`failed: ${error.jobError}`);
    await difficult.retry();
  }
  console.log(`retried: "${(await difficult.wait()).output.story}"`);

  // The endpoint has one worker, so of four long jobs three wait. One is cancelled, the others are
  // purged.
  const long = { input: { words: Array(1_000).fill("and") } };
  const [running, second] = [await stories.run(long), await stories.run(long)];
  await Promise.all([stories.run(long), stories.run(long)]);
  console.log(`cancelled: ${(await second.cancel()).status}`);
  console.log(`purged: ${(await stories.purgeQueue()).removed}`);
  const { jobs, workers } = await stories.health();
  console.log(`health: ${jobs.inProgress} in progress, ${jobs.inQueue} in queue, ${workers.running} worker running`);

  // A caller that gives up can cancel the job.
  const signal = AbortSignal.timeout(200);
  await running.wait({ signal, onAbort: "cancel" }).catch(() => {});
  console.log(`gone: ${(await running.status()).status}`);
}

main()
  .catch((error) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(() => client.close());
