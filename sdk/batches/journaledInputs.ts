import type { Clock } from "../contract/clock";
import { NotFoundError, RateLimitError, ServerlessGpuError } from "../errors/errors";
import { JobExpiredError, JobFailedError, SubmitUncertainError } from "../jobs/jobErrors";
import type { JobHandle } from "../jobs/jobHandle";
import { completedJob, jobFailed, type OutputSchema } from "../jobs/jobOutput";
import type { Job, JobStatus } from "../jobs/jobRecord";
import type { JobRequest } from "../jobs/jobRequest";
import { checkedKey, hashOfInput } from "../journal/itemKey";
import type { AgainState, Journal, JournalBatch, JournalChange, JournalEntry, JournalKey } from "../journal/journal";
import { JournalUnavailableError } from "../journal/journalErrors";
import type { Log } from "../transport/observers";
import { isPathSegment } from "../transport/urls";
import { createAsides, isElsewhere } from "./asides";
import type { Runner } from "./batchJobs";
import { type Item, isSkipped, type Outcome, outcomeOf, type Stop, waitInBatch } from "./batchRun";
import { changed, expired, failure, gone, reasonOf, uncertain, unfinished, unknownJob } from "./journaledOutcomes";
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
  /** Returns `true` if a result that was already delivered should be yielded again. */
  readonly redeliver: ((key: string) => boolean) | undefined;
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
  const underWay = new Map<string, UnderWay<Input, Output>>();
  /** The last state of each result whose job has ended. Only these can be delivered. */
  const settled = new WeakMap<Item<Input>, "delivered" | "failed">();
  let opened: Ledger | undefined;
  let isClosed = false;
  let known: Promise<unknown> | undefined;
  const ledger = () => opened as Ledger;
  const asides = createAsides(clock, ledger);

  async function run(item: Item<Input>, stop: Stop): Promise<Outcome<Output>> {
    let wanted: JournalKey;
    try {
      wanted = keyOf(item.input);
    } catch (error) {
      return { kind: "failed", error: error as Error };
    }
    const { key, hash } = wanted;
    item.key = key;
    const shared = underWay.get(key);
    if (shared) return shared.hash === hash ? await duplicate(item, shared.task) : changed(key);
    const task = follow(item, wanted, stop).then((outcome) => {
      if (outcome.kind === "failed" && settled.has(item)) settled.set(item, "failed");
      return { item, outcome };
    });
    underWay.set(key, { hash, task });
    return (await task.finally(() => underWay.delete(key))).outcome;
  }

  /** A key that was chosen says nothing about the input, so the input's hash is kept beside it. */
  function keyOf(input: object): JournalKey {
    const hash = hashOfInput(input);
    return context.keyOf ? { key: checkedKey(context.keyOf(input)), hash } : { key: hash };
  }

  async function duplicate(item: Item<Input>, shared: UnderWay<Input, Output>["task"]): Promise<Outcome<Output>> {
    const { outcome, item: first } = await shared;
    if (first.jobId !== undefined) item.jobId = first.jobId;
    const state = settled.get(first);
    if (state) settled.set(item, state);
    return isSkipped(outcome) ? outcome : { ...outcome, isDuplicate: true };
  }

  /** Claims a key, then acts on its state until there is an outcome. */
  async function follow(item: Item<Input>, wanted: JournalKey, stop: Stop): Promise<Outcome<Output>> {
    const { key, hash } = wanted;
    try {
      for (let known: Claim | undefined; ; ) {
        const claim: Claim | undefined = known ?? (await ledger().claim(wanted));
        known = undefined;
        if (claim.entry.hash !== hash) return changed(key);
        if (isElsewhere(claim)) {
          known = await asides.wait(key);
          if (!known) return unfinished(stop.submits.reason);
          // If the key is free again, it must be claimed.
          if (known.entry.state === "released") known = undefined;
          continue;
        }
        const outcome = await act(item, claim, stop);
        if (outcome) return outcome;
      }
    } catch (error) {
      return item.jobId === undefined ? unfinished(error) : outcomeOf(error, item, stop);
    }
  }

  /** Acts on the state of a claimed key. Returns `undefined` if the key must be claimed again. */
  async function act(item: Item<Input>, { entry, lease }: Claim, stop: Stop) {
    const { key, state, jobId } = entry;
    if (state === "claimed") return await submit(item, key, lease, stop);
    if (state === "uncertain") return unfinished(uncertain(entry, context.identity));
    if (jobId === undefined) return undefined;
    item.jobId = jobId;
    if (state === "expired") return { kind: "failed" as const, error: expired(entry, context.identity) };
    const isDelivered = state === "delivered" || state === "failed";
    if (isDelivered && !ledger().isOwn(entry.owner) && !context.redeliver?.(key)) {
      return { kind: state === "failed" ? ("failedEarlier" as const) : ("skipped" as const) };
    }
    const stored = entry.isStored ? await ledger().result(key) : undefined;
    const outcome = stored === undefined ? await resumed(item, entry, stop) : await outcomeIn(item, jobId, stored);
    return outcome && isDelivered && ledger().isOwn(entry.owner) ? { ...outcome, isDuplicate: true } : outcome;
  }

  async function submit(item: Item<Input>, key: string, lease: Lease, stop: Stop) {
    const { owner } = lease;
    let sentAt: number | undefined;
    let isAnswered = false;
    const answer = async (change: Omit<JournalChange, "key" | "owner">) => {
      isAnswered = true;
      // If the journal fails, the batch ends, but this process still waits for this job.
      await ledger()
        .record({ key, owner, ...change })
        .catch(() => {});
      ledger().answered();
    };
    try {
      stop.submits.throwIfAborted();
      const job = await context.start(requestOf(item.input, key), stop.submits, () => {
        if (!lease.isValid()) throw new LeaseEnded("the lease of the claim has ended");
        sentAt = clock.now();
      });
      item.jobId = job.id;
      await answer({ state: "submitted", jobId: job.id, submittedAt: sentAt });
      return await collect(item, key, job, stop);
    } catch (error) {
      if (isAnswered) throw error;
      const known = error instanceof SubmitUncertainError ? error.jobId : undefined;
      if (known !== undefined && isPathSegment(known)) {
        item.jobId = known;
        await answer({ state: "submitted", jobId: known, submittedAt: sentAt });
        return await collect(item, key, context.resume(known, sentAt), stop);
      }
      if (mayRun(error, sentAt, stop)) await answer({ state: "uncertain", reason: reasonOf(error as Error) });
      else await answer({ state: "released" });
      if (error instanceof LeaseEnded) return undefined;
      if (error instanceof RateLimitError && !stop.submits.aborted) {
        // The next input would fail in the same way.
        const pauseMs = Math.max(RATE_LIMIT_PAUSE_MS, error.retryAfterMs ?? 0);
        if (ledger().rest(pauseMs)) context.log?.("warn", pauseText(pauseMs), {});
        return undefined;
      }
      return outcomeOf(error, item, stop);
    }
  }

  /** Waits for a job and records its end. Returns `undefined` if the key must be claimed again. */
  async function collect(item: Item<Input>, key: string, job: JobHandle, stop: Stop) {
    try {
      const completed = await waitInBatch(job, stop);
      settle(item, key, completed);
      return await success(completed);
    } catch (error) {
      if (error instanceof JobFailedError) {
        settle(item, key, { id: job.id, status: error.jobStatus, error: error.jobError });
      } else if (error instanceof JobExpiredError) {
        await requireEndpoint();
        await expire(key, job.id);
        if (context.again.includes("expired") && !stop.submits.aborted) return undefined;
      } else if (error instanceof NotFoundError) {
        await requireEndpoint();
        return outcomeOf(unknownJob(job.id, context.identity, error), item, stop);
      }
      return outcomeOf(error, item, stop);
    }
  }

  const expire = (key: string, jobId: string) =>
    ledger().record({ key, owner: ledger().owner(), state: "expired", jobId });

  /** Waits for a job that an earlier run or another process submitted. */
  async function resumed(item: Item<Input>, entry: JournalEntry, stop: Stop) {
    const { key, state, jobId = "" } = entry;
    // A clock may have been wrong.
    const submittedAt = (entry.submittedAt ?? Number.POSITIVE_INFINITY) > clock.now() ? undefined : entry.submittedAt;
    const job = context.resume(jobId, submittedAt);
    if (state === "submitted" || state === "settled") {
      const outcome = await collect(item, key, job, stop);
      if (submittedAt !== undefined || outcome?.kind !== "failed" || !(outcome.error instanceof NotFoundError)) {
        return outcome;
      }
      // The job may be younger than the service's lists, so only the user can tell.
      await requireEndpoint();
      if (!context.again.includes("expired") || stop.submits.aborted) {
        return { ...outcome, error: expired(entry, context.identity) };
      }
      await expire(key, jobId);
      return undefined;
    }
    try {
      return await success(await waitInBatch(job, stop));
    } catch (error) {
      const isGone = error instanceof JobExpiredError || error instanceof NotFoundError;
      if (isGone) await requireEndpoint();
      if (isGone && state === "failed") return failure(jobFailed({ id: jobId, status: "FAILED" }));
      return isGone ? failure(gone(entry, context.identity)) : outcomeOf(error, item, stop);
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
  async function outcomeIn(item: Item<Input>, jobId: string, result: string): Promise<Outcome<Output>> {
    settled.set(item, "delivered");
    const job: Job = { id: jobId, ...(JSON.parse(result) as { status: JobStatus }) };
    try {
      if (job.status !== "COMPLETED") throw jobFailed(job);
      return await success(job);
    } catch (error) {
      return failure(error);
    }
  }

  function settle(item: Item<Input>, key: string, { id: jobId, status, output, error }: Job): void {
    settled.set(item, "delivered");
    const result = context.stores ? JSON.stringify({ status, output, error }) : undefined;
    // The loop gets the result even if this can't be recorded.
    ledger()
      .record({ key, owner: ledger().owner(), state: "settled", jobId, result })
      .catch(() => {});
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
      const state = settled.get(item);
      if (key === undefined || jobId === undefined || !state) return;
      if (isClosed) throw new JournalUnavailableError(AFTER_END);
      await ledger().record({ key, owner: ledger().owner(), state, jobId });
    },
    drain(reason) {
      asides.stop();
      opened?.drain(reason);
    },
    stop: () => opened?.stop(),
    async close() {
      isClosed = true;
      await opened?.close();
    },
  };
}

interface UnderWay<Input, Output> {
  readonly hash: string | undefined;
  readonly task: Promise<{ readonly item: Item<Input>; readonly outcome: Outcome<Output> }>;
}

const AFTER_END =
  "done() was called after the end of the loop, so the next run yields this result again. Call it before you ask for the " +
  "next result";

/**
 * The minimum pause of the whole batch after the service has refused a submit with 429, in
 * milliseconds.
 */
const RATE_LIMIT_PAUSE_MS = 60_000;

const pauseText = (ms: number) =>
  `the service refused a submit with 429. The batch submits nothing for ${Math.ceil(ms / 1_000)} s`;

/**
 * The maximum number of inputs that do not count toward the concurrency because another process is
 * working on their key.
 */
const MOST_ASIDE = 5_000;

/** Returns `true` if a failed submit may have started a job. */
function mayRun(error: unknown, sentAt: number | undefined, stop: Stop): boolean {
  if (error instanceof SubmitUncertainError) return true;
  // Any other error of the client means that the service did nothing, because an attempt is not
  // aborted once it has been sent.
  const isClear = error instanceof ServerlessGpuError || error instanceof LeaseEnded || error === stop.submits.reason;
  return sentAt !== undefined && !isClear;
}
