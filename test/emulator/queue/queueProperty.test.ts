import fc from "fast-check";
import type { HandlerContext, HandlerJob } from "../../../emulator";
import { type QueueTest, startQueue, stopAll } from "../../support/queueClient";

afterEach(stopAll);

const second = 1000;
const KINDS = ["complete", "fail", "crash", "crashOnce", "hang", "timeOut", "expire"] as const;
type Kind = (typeof KINDS)[number];

/** A job as seen from outside: its requests, and the observed states. */
interface Seen {
  readonly kind: Kind;
  readonly operation: "run" | "runsync";
  readonly submittedAt: number;
  status: string;
  /** How many times it was queued by /run, /runsync or /retry. */
  enqueued: number;
  cancelled: boolean;
  purged: boolean;
  /** When it was last seen in a state that is not final. */
  unfinishedAt: number;
}

const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("submit" as const),
      operation: fc.constantFrom("run" as const, "runsync" as const),
      kind: fc.constantFrom(...KINDS),
      lowPriority: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("cancel" as const, "retry" as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("purge" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 8 * second }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("scale" as const), workersMax: fc.nat(3) }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** Not known any more. */
const GONE = "404";
const ENDS = ["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"];
const isEnd = (status: string) => ENDS.includes(status);

/**
 * The final state of each kind of job without interference. `expire` runs for longer than its ttl.
 */
const END: Record<Exclude<Kind, "expire">, string> = {
  complete: "COMPLETED",
  fail: "FAILED",
  crash: "FAILED",
  crashOnce: "COMPLETED",
  hang: "FAILED",
  timeOut: "TIMED_OUT",
};
const TTL = 10 * second;

/** Drives one endpoint, and checks after every step that its responses are consistent. */
function createDriver(queue: QueueTest, starts: Map<string, number>) {
  const jobs = new Map<string, Seen>();
  const totals = { completed: 0, failed: 0, retries: 0 };
  const answers: Promise<unknown>[] = [];
  const now = () => queue.clock.now();

  async function submit({ operation, kind, lowPriority }: Command & { type: "submit" }) {
    const policy = { lowPriority, ...(kind === "expire" ? { ttl: TTL } : { executionTimeout: 5 * second }) };
    const query = operation === "runsync" ? "?wait=1000" : "";
    const { answer } = await queue.begin(`${operation}${query}`, { input: { kind }, policy });
    answers.push(answer);
    const [newest] = (await queue.get("requests")).body.requests;
    expect(jobs.has(newest.id)).toBe(false);
    const times = { submittedAt: now(), unfinishedAt: now() };
    jobs.set(newest.id, {
      kind,
      operation,
      ...times,
      status: "IN_QUEUE",
      enqueued: 1,
      cancelled: false,
      purged: false,
    });
  }

  async function cancelOrRetry({ type, pick }: Command & { type: "cancel" | "retry" }) {
    const [id, job] = [...jobs][pick % jobs.size] ?? [];
    if (id === undefined || job === undefined) return;
    const before = await queue.get(`status/${id}`);
    const { status, body } = await queue.post(`${type}/${id}`);
    if (before.status === 404) expect(status).toBe(404);
    else if (type === "cancel") {
      const ended = isEnd(before.body.status);
      expect([status, body.status]).toEqual([200, ended ? before.body.status : "CANCELLED"]);
      if (!ended) job.cancelled = true;
    } else if (["FAILED", "TIMED_OUT"].includes(before.body.status)) {
      expect([status, body.status]).toEqual([200, "IN_QUEUE"]);
      job.enqueued += 1;
      job.status = "IN_QUEUE";
      job.unfinishedAt = now();
      totals.retries += 1;
    } else expect(status).toBe(400);
  }

  async function purge() {
    const waiting = [...jobs].filter(([, { status }]) => status === "IN_QUEUE");
    const { removed } = (await queue.post("purge-queue")).body;
    expect(removed).toBe(waiting.length);
    for (const [, job] of waiting) job.purged = true;
  }

  async function step(next: Command) {
    if (next.type === "submit") await submit(next);
    else if (next.type === "purge") await purge();
    else if (next.type === "advance") await queue.clock.advance(next.ms);
    else if (next.type === "scale") {
      queue.emulator.endpoints.change(queue.endpointId, { workersMin: 0, workersMax: next.workersMax });
    } else await cancelOrRetry(next);
    await check();
  }

  /** A job may be gone only for a reason. */
  function mayBeGone(job: Seen): boolean {
    if (job.purged || (job.kind === "expire" && now() >= job.submittedAt + TTL)) return true;
    return job.operation === "runsync" && isEnd(job.status) && now() >= job.unfinishedAt + 60 * second;
  }

  function checkJob(id: string, job: Seen, status: string | undefined) {
    if (job.status === GONE) expect(status).toBeUndefined();
    if (status === undefined) {
      if (job.status !== GONE) expect(mayBeGone(job)).toBe(true);
      job.status = GONE;
      return;
    }
    expect(job.purged).toBe(false);
    if (job.kind === "expire") expect(now()).toBeLessThan(job.submittedAt + TTL);
    if (isEnd(job.status)) expect(status).toBe(job.status);
    else if (isEnd(status)) {
      expect(status).toBe(job.cancelled ? "CANCELLED" : END[job.kind as keyof typeof END]);
      if (status === "COMPLETED") totals.completed += 1;
      else if (status !== "CANCELLED") totals.failed += 1;
    } else {
      expect(["IN_QUEUE", "IN_PROGRESS"]).toContain(status);
      job.unfinishedAt = now();
    }
    job.status = status;
    checkStarts(id, job);
  }

  /** It never runs twice unless its worker died, and never ends without running. */
  function checkStarts(id: string, { kind, enqueued, status }: Seen) {
    const perEntry = kind === "crash" ? 2 : 1;
    const extra = kind === "crash" || kind === "crashOnce" ? 1 : 0;
    const before = (enqueued - 1) * perEntry;
    const current = (starts.get(id) ?? 0) - before;
    const [least, most] = {
      IN_QUEUE: [0, extra],
      IN_PROGRESS: [1, 1 + extra],
      CANCELLED: [0, 1 + extra],
    }[status] ?? [1 + extra, 1 + extra];
    expect(current).toBeGreaterThanOrEqual(least as number);
    expect(current).toBeLessThanOrEqual(most as number);
  }

  async function check() {
    const requests: { id: string; status: string }[] = (await queue.get("requests")).body.requests;
    const statuses = new Map(requests.map(({ id, status }) => [id, status]));
    for (const id of statuses.keys()) expect(jobs.has(id)).toBe(true);
    for (const [id, job] of jobs) checkJob(id, job, statuses.get(id));
    const count = (wanted: string) => requests.filter(({ status }) => status === wanted).length;
    const crashes = [...crashedOnce(jobs, starts)].length;
    const { jobs: counted, workers } = await queue.health();
    expect(counted).toEqual({
      completed: totals.completed,
      failed: totals.failed,
      inProgress: count("IN_PROGRESS"),
      inQueue: count("IN_QUEUE"),
      retried: expect.any(Number),
    });
    expect(counted.retried).toBeGreaterThanOrEqual(totals.retries);
    expect(counted.retried).toBeLessThanOrEqual(totals.retries + crashes);
    expect(workers.running).toBe(counted.inProgress);
  }

  return { step, check, answers, jobs };
}

/** One for each time that a worker may have died while it ran a job. */
function* crashedOnce(jobs: ReadonlyMap<string, Seen>, starts: ReadonlyMap<string, number>) {
  for (const [id, { kind }] of jobs) {
    if (kind.startsWith("crash")) for (let n = 0; n < (starts.get(id) ?? 0); n += 1) yield id;
  }
}

test("under any sequence of actions, states follow the rules, counts add up, and no job is lost or duplicated", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 30 }), async (commands) => {
      const starts = new Map<string, number>();
      const worker = async ({ id, input }: HandlerJob, context: HandlerContext) => {
        starts.set(id, (starts.get(id) ?? 0) + 1);
        if (input.kind === "hang" || input.kind === "expire") await new Promise(() => {});
        await context.sleep(2 * second);
        if (input.kind === "fail") throw new Error("failed on purpose");
        if (input.kind === "crash" || (input.kind === "crashOnce" && starts.get(id) === 1)) context.crash();
        if (input.kind === "timeOut") context.timeOut();
        return "done";
      };
      const endpoint = { workersMin: 0, workersMax: 2, scalerType: "REQUEST_COUNT", scalerValue: 1 };
      const queue = await startQueue(endpoint, { handlers: { worker }, coldStartMs: second, drainMs: second });
      const driver = createDriver(queue, starts);
      for (const next of commands) await driver.step(next);
      // Nothing is lost: with workers for all of them, every job comes to its end.
      queue.emulator.endpoints.change(queue.endpointId, { workersMin: 3, workersMax: 3 });
      for (let n = 0; n < 25; n += 1) {
        await queue.clock.advance(10 * second);
        await driver.check();
      }
      expect((await queue.health()).jobs).toMatchObject({ inQueue: 0, inProgress: 0 });
      for (const { status } of driver.jobs.values()) expect([...ENDS, GONE]).toContain(status);
      await Promise.all(driver.answers);
      await stopAll();
    }),
    { numRuns: 40 },
  );
});
