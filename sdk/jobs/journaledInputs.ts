import type { Clock } from "../contract/clock";
import { ServerlessGpuError } from "../errors";
import { checkedKey, hashOfInput } from "../journal/itemKey";
import type { AgainState, Journal, JournalBatch, JournalChange } from "../journal/journal";
import type { Log } from "../transport/observers";
import { isPathSegment } from "../transport/urls";
import { createAsides, isElsewhere } from "./asides";
import type { Runner } from "./batchJobs";
import { type Item, type Outcome, outcomeOf, type Stop, waitInBatch } from "./batchRun";
import { JobExpiredError, JobFailedError, SubmitUncertainError } from "./jobErrors";
import type { JobHandle } from "./jobHandle";
import { completedJob, jobFailed, type OutputSchema } from "./jobOutput";
import type { Job, JobStatus } from "./jobRecord";
import type { JobRequest } from "./jobRequest";
import { type Claim, createLedger, type Lease, type Ledger } from "./ledger";

/** The context of a batch with a journal. */
export interface JournaledContext<Output> {
  readonly journal: Journal;
  readonly identity: JournalBatch;
  /** Returns the key of an input. */
  readonly keyOf: ((input: object) => string) | undefined;
  /** The states in which an input is submitted again. */
  readonly again: readonly AgainState[];
  /** `true` if results are stored in the journal. */
  readonly stores: boolean;
  readonly request: Omit<JobRequest, "input"> | undefined;
  readonly schema: OutputSchema<Output> | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Submits a job. `beforeSend` is called right before each attempt, and can prevent it by
   * throwing.
   */
  readonly start: (request: JobRequest, signal: AbortSignal, beforeSend: () => void) => Promise<JobHandle>;
  /** Returns the handle of a job that was submitted earlier. */
  readonly resume: (jobId: string, submittedAt: number | undefined) => JobHandle;
  /**
   * Reads the endpoint.
   * @throws NotFoundError if this account has no such endpoint
   */
  readonly readEndpoint: () => Promise<unknown>;
}

/**
 * Thrown when an attempt was prevented because the lease had ended. The key must be claimed again.
 */
class LeaseEnded extends Error {}

/** Runs each key once, and keeps a durable record of each key in a journal. */
export function runJournaled<Input extends object, Output>(context: JournaledContext<Output>): Runner<Input, Output> {
  const { clock } = context;
  /** The keys in progress, each with the outcome that all inputs with this key share. */
  const underWay = new Map<string, Promise<{ readonly item: Item<Input>; readonly outcome: Outcome<Output> }>>();
  /** Results whose job has ended. Only these can be delivered. */
  const settled = new WeakSet<Item<Input>>();
  let opened: Ledger | undefined;
  let closed: Promise<void> | undefined;
  /** Changes for results that consumers finished processing only after the loop had ended. */
  const late: JournalChange[] = [];
  let recording: Promise<void> | undefined;
  let known: Promise<unknown> | undefined;
  const ledger = () => opened as Ledger;
  const asides = createAsides(clock, ledger);

  async function run(item: Item<Input>, stop: Stop): Promise<Outcome<Output>> {
    try {
      item.key = checkedKey((context.keyOf ?? hashOfInput)(item.input));
    } catch (error) {
      return { kind: "failed", error: error as Error };
    }
    const shared = underWay.get(item.key);
    if (shared) return await duplicate(item, shared);
    const task = follow(item, item.key, stop).then((outcome) => ({ item, outcome }));
    underWay.set(item.key, task);
    return (await task.finally(() => underWay.delete(item.key as string))).outcome;
  }

  async function duplicate(item: Item<Input>, shared: NonNullable<ReturnType<typeof underWay.get>>) {
    const { outcome, item: first } = await shared;
    if (first.jobId !== undefined) item.jobId = first.jobId;
    if (settled.has(first)) settled.add(item);
    return outcome.kind === "skipped" ? outcome : { ...outcome, isDuplicate: true };
  }

  /** Claims a key, then acts on its state until there is an outcome. */
  async function follow(item: Item<Input>, key: string, stop: Stop): Promise<Outcome<Output>> {
    try {
      for (let known: Claim | undefined; ; ) {
        const claim: Claim | undefined = known ?? (await ledger().claim(key));
        known = undefined;
        if (isElsewhere(claim)) {
          known = await asides.wait(key);
          if (!known) return unfinished(stop.signal.reason);
          // If the key is free again, it must be claimed.
          if (known.entry.state === "released") known = undefined;
          continue;
        }
        const outcome = await act(item, key, claim, stop);
        if (outcome) return outcome;
      }
    } catch (error) {
      return item.jobId === undefined ? unfinished(error) : outcomeOf(error, item, stop);
    }
  }

  /** Acts on the state of a claimed key. Returns `undefined` if the key must be claimed again. */
  async function act(item: Item<Input>, key: string, { entry, lease }: Claim, stop: Stop) {
    const { state, jobId, submittedAt } = entry;
    if (state === "claimed") return await submit(item, key, lease, stop);
    if (state === "uncertain") return unfinished(uncertain(key, context.identity));
    if (jobId === undefined) return undefined;
    item.jobId = jobId;
    if (state === "expired") return { kind: "failed" as const, error: expired(jobId, context.identity, submittedAt) };
    const isDelivered = state === "delivered";
    if (isDelivered && !ledger().isOwn(entry.owner)) return { kind: "skipped" as const };
    const outcome =
      entry.result === undefined
        ? await collect(item, key, context.resume(jobId, submittedAt), stop, isDelivered)
        : await stored(item, jobId, entry.result);
    return outcome && isDelivered ? { ...outcome, isDuplicate: true } : outcome;
  }

  async function submit(item: Item<Input>, key: string, lease: Lease, stop: Stop) {
    const { owner } = lease;
    let sentAt: number | undefined;
    let isAnswered = false;
    const answer = async (change: Pick<JournalChange, "state" | "jobId" | "submittedAt">) => {
      isAnswered = true;
      // If the journal fails, the batch ends, but this process still waits for this job.
      await ledger()
        .record({ key, owner, ...change })
        .catch(() => {});
      ledger().answered();
    };
    try {
      if (stop.signal.aborted) throw stop.signal.reason;
      const job = await context.start(requestOf(item.input, key), stop.signal, () => {
        if (!lease.isValid()) throw new LeaseEnded("the lease of the claim has ended");
        sentAt = clock.now();
      });
      item.jobId = job.id;
      await answer({ state: "submitted", jobId: job.id, submittedAt: sentAt });
      return await collect(item, key, job, stop, false);
    } catch (error) {
      if (isAnswered) throw error;
      const known = error instanceof SubmitUncertainError ? error.jobId : undefined;
      if (known !== undefined && isPathSegment(known)) {
        item.jobId = known;
        await answer({ state: "submitted", jobId: known, submittedAt: sentAt });
        return await collect(item, key, context.resume(known, sentAt), stop, false);
      }
      await answer({ state: mayRun(error, sentAt, stop) ? "uncertain" : "released" });
      if (error instanceof LeaseEnded) return undefined;
      return outcomeOf(error, item, stop);
    }
  }

  /** Waits for a job and records its end. Returns `undefined` if the key must be claimed again. */
  async function collect(item: Item<Input>, key: string, job: JobHandle, stop: Stop, isDelivered: boolean) {
    try {
      const completed = await waitInBatch(job, stop);
      settle(item, key, job.id, completed);
      return await success(completed);
    } catch (error) {
      if (error instanceof JobFailedError) {
        settle(item, key, job.id, { id: job.id, status: error.jobStatus, error: error.jobError });
      } else if (error instanceof JobExpiredError && !isDelivered) {
        await requireEndpoint();
        await ledger().record({ key, owner: ledger().owner(), state: "expired", jobId: job.id });
        if (context.again.includes("expired") && !stop.signal.aborted) return undefined;
      }
      return outcomeOf(error, item, stop);
    }
  }

  /** With the key of another account, no job is known, whether it has expired or not. */
  function requireEndpoint(): Promise<unknown> {
    known ??= context.readEndpoint().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  }

  async function success(job: Job): Promise<Outcome<Output>> {
    const { output } = await completedJob(job, context.schema);
    return { kind: "completed", output };
  }

  /** Returns the outcome that an earlier run stored. */
  async function stored(item: Item<Input>, jobId: string, result: string): Promise<Outcome<Output>> {
    settled.add(item);
    const job: Job = { id: jobId, ...(JSON.parse(result) as { status: JobStatus }) };
    try {
      if (job.status !== "COMPLETED") throw jobFailed(job);
      return await success(job);
    } catch (error) {
      return { kind: "failed", error: error as Error };
    }
  }

  function settle(item: Item<Input>, key: string, jobId: string, { status, output, error }: Job): void {
    settled.add(item);
    const result = context.stores ? JSON.stringify({ status, output, error }) : undefined;
    // The loop gets the result even if this can't be recorded.
    ledger()
      .record({ key, owner: ledger().owner(), state: "settled", jobId, result })
      .catch(() => {});
  }

  /** Records results that were processed after the journal was closed. */
  async function afterEnd(change: JournalChange): Promise<void> {
    late.push(change);
    while (late.includes(change)) {
      recording ??= recordLate().finally(() => {
        recording = undefined;
      });
      await recording;
    }
  }

  async function recordLate(): Promise<void> {
    await closed;
    const journal = await context.journal.open(context.identity);
    try {
      const group = [...late];
      await journal.record(group[0]?.owner ?? "", group);
      late.splice(0, group.length);
    } finally {
      await journal.close();
    }
  }

  function requestOf(input: object, key: string): JobRequest {
    const { webhook } = context.request ?? {};
    const filled = webhook === undefined ? {} : { webhook: webhook.replaceAll("{key}", encodeURIComponent(key)) };
    return { ...context.request, ...filled, input };
  }

  return {
    async open() {
      const journal = await context.journal.open(context.identity);
      opened = createLedger({ journal, clock, log: context.log, again: context.again });
    },
    run,
    get aside() {
      return Math.min(asides.size, MOST_ASIDE);
    },
    async delivered(item) {
      const { key, jobId } = item;
      if (key === undefined || jobId === undefined || !settled.has(item)) return;
      const change: JournalChange = { key, owner: ledger().owner(), state: "delivered", jobId };
      await (closed ? afterEnd(change) : ledger().record(change));
    },
    stop(reason) {
      asides.stop();
      opened?.stop(reason);
    },
    close: async () => {
      closed = opened?.close();
      await closed;
    },
  };
}

/**
 * The maximum number of inputs that do not count toward the concurrency because another process is
 * working on their key.
 */
const MOST_ASIDE = 5_000;

function unfinished(error: unknown): Outcome<never> {
  return { kind: "unfinished", error: error as Error };
}

/** Returns `true` if a failed submit may have started a job. */
function mayRun(error: unknown, sentAt: number | undefined, stop: Stop): boolean {
  if (error instanceof SubmitUncertainError) return true;
  // With any other error of the client, the service did nothing. An attempt is not aborted once it
  // was sent.
  const isClear = error instanceof ServerlessGpuError || error instanceof LeaseEnded || error === stop.signal.reason;
  return sentAt !== undefined && !isClear;
}

function uncertain(key: string, { batch, endpointId }: JournalBatch): SubmitUncertainError {
  return new SubmitUncertainError(
    `input ${JSON.stringify(key)} in batch ${JSON.stringify(batch)} may have been submitted: the process that claimed it ended ` +
      "before it recorded the job's id. It is not submitted again. Check the requests of endpoint " +
      `${endpointId}. If the job may run twice, run the batch with uncertain: "submit"`,
    {},
  );
}

function expired(jobId: string, { endpointId }: JournalBatch, submittedAt: number | undefined): JobExpiredError {
  return new JobExpiredError(
    `job ${jobId} at endpoint ${endpointId} was submitted, but the service no longer shows it. It may have been completed. To run ` +
      'its input again, run the batch with expired: "submit"',
    { jobId, reason: "retention", at: new Date(submittedAt ?? 0) },
  );
}
