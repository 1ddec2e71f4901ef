import { TERMINAL_JOB_STATES } from "../../../sdk/contract/enums";
import type { Site } from "../site";
import { deletionOf } from "./graphql";
import { saveOwn } from "./saveEndpoint";
import { keysOf, type Scenario } from "./scenario";

/** The time that a worker may take to start and run the job, in milliseconds. */
const JOB_MS = 240_000;
const POLL_MS = 2000;
const ENDED: ReadonlySet<string> = new Set(TERMINAL_JOB_STATES);

/** One job, by one worker. The worker's program is the user's, so its output is not compared, and neither is its success. */
export const oneJob: Scenario = {
  name: "one job of one worker",
  async play(site) {
    await site.queue("purge-queue", { method: "POST" });
    await saveOwn(site, { workersMax: "1", idleTimeout: "1" });
    const json = { input: { prompt: "verify-service" }, policy: { executionTimeout: 10_000, ttl: JOB_MS } };
    const submitted = await site.queue("run", { json, once: true });
    const job = await ended(site, submitted.body?.id);
    const ends = job?.status === "COMPLETED" || job?.status === "FAILED";
    site.note("queue.times", { ends, delay: typeof job?.delayTime, execution: typeof job?.executionTime });
    site.note({ observed: "queue.worker-id" }, { ends, type: typeof job?.workerId });
    const { body } = await site.queue("health");
    site.note("queue.health-totals", {
      fields: keysOf(body?.jobs),
      ended: (body?.jobs?.completed ?? 0) + (body?.jobs?.failed ?? 0),
    });
    const refused = await deletionOf(site);
    site.note("delete.workers-not-zero", refused);
    site.note("delete.same-data", refused);
    await saveOwn(site);
  },
};

// biome-ignore lint/suspicious/noExplicitAny: the point is to find records of unexpected shapes
async function ended(site: Site, id: unknown): Promise<any> {
  for (let waited = 0; waited < JOB_MS; waited += POLL_MS) {
    const { status, body } = await site.queue(`status/${id}`);
    if (status !== 200 || ENDED.has(body?.status)) return body;
    await site.pause(POLL_MS);
  }
  throw new Error(`the job did not end within ${JOB_MS / 1000} s`);
}
