import type { Reply, Site } from "../site";
import { keysOf, type Scenario, UNKNOWN_ID } from "./scenario";

const INPUT = { input: { prompt: "verify-service" } };

/** Returns the status of the response, the state of its job, and the names of its fields. */
const record = ({ status, body }: Reply) => ({ status, job: body?.status ?? null, fields: keysOf(body) });

/** Submits a job that waits, because the endpoint has no worker. */
async function submit(site: Site): Promise<string> {
  const reply = await site.queue("run", { json: INPUT });
  if (typeof reply.body?.id === "string") return reply.body.id;
  throw new Error(`/run responded with ${reply.status} and no id`);
}

export const queueErrors: Scenario = {
  name: "errors of the queue",
  async play(site) {
    const wrong = await site.queue("health", { key: "wrong" });
    site.note("queue.wrong-key", wrong.status);
    site.note("queue.unauthorized-body", keysOf(wrong.body));
    const [bare, bearer] = [await site.queue("health", { key: "bare" }), await site.queue("health")];
    site.note("queue.key", { bare: bare.status, bearer: bearer.status });
    site.note("queue.unknown-endpoint", (await site.queue(`/${UNKNOWN_ID}/health`)).status);
    site.note("queue.unknown-operation", (await site.queue("no-such-operation")).status);
    const unknownJob = await site.queue(`status/${UNKNOWN_ID}`);
    site.note("queue.unknown-job", unknownJob.status);
    site.note("queue.error-body", keysOf(unknownJob.body));
    site.note("queue.bad-request", (await site.queue("run", { json: { noInput: true } })).status);
    site.note("queue.out-of-range", (await site.queue("runsync?wait=999", { json: INPUT })).status);
  },
};

export const waitingJobs: Scenario = {
  name: "jobs that wait",
  async play(site) {
    const { note } = site;
    note("queue.run", record(await site.queue("run", { json: INPUT })));
    const id = await submit(site);
    note("queue.status", record(await site.queue(`status/${id}`)));
    note({ observed: "queue.status-sync" }, record(await site.queue(`status-sync/${id}?wait=1000`)));
    const stream = await site.queue(`stream/${id}`);
    const fields = Array.isArray(stream.body) ? "list" : keysOf(stream.body);
    note({ contract: "queue.stream", observed: "queue.stream-observed" }, { status: stream.status, fields });
    note("queue.retry-wrong-state", (await site.queue(`retry/${id}`, { method: "POST" })).status);
    note("queue.cancel", record(await site.queue(`cancel/${id}`, { method: "POST" })));
    note("queue.cancel-ended", record(await site.queue(`cancel/${id}`, { method: "POST" })));
    note("queue.runsync-elapsed", record(await site.queue("runsync?wait=1000", { json: INPUT })));
    const nulls = { ...INPUT, webhook: null, policy: null };
    note("queue.null-fields", record(await site.queue("run", { json: nulls })));
  },
};

export const purge: Scenario = {
  name: "the purge of the queue",
  async play(site) {
    await site.queue("purge-queue", { method: "POST" });
    const id = await submit(site);
    await submit(site);
    const { status, body } = await site.queue("health");
    site.note("queue.health", { status, jobs: keysOf(body?.jobs), inQueue: body?.jobs?.inQueue });
    site.note({ observed: "queue.health-observed" }, keysOf(body?.workers));
    const requests = await site.queue("requests");
    site.note("queue.requests", { status: requests.status, fields: keysOf(requests.body) });
    const purged = await site.queue("purge-queue", { method: "POST" });
    site.note("queue.purge", { status: purged.status, removed: purged.body?.removed });
    site.note("queue.purged-job", (await site.queue(`status/${id}`)).status);
  },
};

/** The shortest ttl that the contract allows, and a little more for a service that looks now and then. */
const TTL_MS = 10_000;
const TTL_PAUSE_MS = 13_000;

export const timeToLive: Scenario = {
  name: "the time to live of a job",
  async play(site) {
    const { body } = await site.queue("run", { json: { ...INPUT, policy: { ttl: TTL_MS } } });
    const before = await site.queue(`status/${body?.id}`);
    await site.pause(TTL_PAUSE_MS);
    const after = await site.queue(`status/${body?.id}`);
    site.note("queue.ttl", { before: before.status, after: after.status });
  },
};
