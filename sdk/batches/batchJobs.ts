import type { WaitOptions } from "../jobs/jobHandleOptions";
import { type BatchInputs, readInTurn } from "./batchInputs";
import type { BatchCounts, BatchItem, BatchResult } from "./batchResults";
import {
  concernsAll,
  type Item,
  isSkipped,
  isYielded,
  mayContinue,
  type Outcome,
  type Skipped,
  type Stop,
} from "./batchRun";

/** Processes the inputs of a batch until each of them has an outcome. */
export interface Runner<Input, Output> {
  /** Called once, before the first input. */
  open?(): Promise<void>;
  /** Resolves with the outcome of an input. Never rejects. */
  run(item: Item<Input>, stop: Stop): Promise<Outcome<Output>>;
  /**
   * The number of inputs that are waiting for another process. They don't count as jobs of this
   * process.
   */
  readonly aside?: number;
  /** Records that the loop has processed the result. Resolves when the record is durable. */
  delivered?(item: Item<Input>): Promise<void>;
  /** Called when nothing more may be submitted. */
  stop?(reason: unknown): void;
  /** Called once, when nothing is in progress anymore. */
  close?(): Promise<void>;
}

/** The jobs of a batch. */
export interface BatchJobs<Input, Output> {
  readonly counts: BatchCounts;
  /** Returns the inputs that were read but whose results the loop has not received. */
  left(): BatchItem<Input>[];
  /** Opens the resources that the runner needs. */
  open(): Promise<void>;
  /**
   * Returns the next result, or `undefined` if there is none yet. Also reads new inputs if there is
   * room.
   */
  take(): BatchResult<Input, Output> | undefined;
  /**
   * Returns `true` if no more inputs will be read, nothing is in progress, and all results have
   * been taken.
   */
  isOver(): boolean;
  /** Throws the error that stopped the reading of inputs, if any. */
  throwError(): void;
  /** Resolves when something changes. */
  change(): Promise<void>;
  /**
   * Stops reading and submitting inputs, and ends all waits.
   * @param wantsResults whether the loop still takes results that are already complete
   */
  stop(wantsResults: boolean, reason?: unknown): void;
  /**
   * Resolves when nothing is in progress anymore.
   * @throws the first error that occurred when cancelling jobs
   */
  close(): Promise<void>;
}

export function createBatchJobs<Input extends object, Output>(
  runner: Runner<Input, Output>,
  inputs: BatchInputs<Input>,
  { concurrency, onAbort: effect }: { readonly concurrency: number; readonly onAbort: WaitOptions["onAbort"] },
): BatchJobs<Input, Output> {
  const counts = { started: 0, completed: 0, failed: 0, unfinished: 0, duplicates: 0, skipped: 0, failedEarlier: 0 };
  const stopped = new AbortController();
  const stop: Stop = { signal: stopped.signal, effect, wantsResults: false };
  const running = new Set<Promise<void>>();
  /** The inputs whose results the loop has not received yet. */
  const open = new Set<Item<Input>>();
  const finished: { readonly item: Item<Input>; readonly outcome: Ended<Output> }[] = [];
  const notCancelled: unknown[] = [];
  /** Set when no more inputs will be read. */
  let end: { readonly error?: unknown } | undefined;
  let wake = () => {};
  const hasRoom = () => !end && running.size - (runner.aside ?? 0) + finished.length < concurrency;
  const source = readInTurn(inputs, hasRoom, begin, (error) => {
    end ??= error;
    wake();
  });

  function begin(input: Input): void {
    const item: Item<Input> = { index: counts.started++, input };
    counts.unfinished++;
    open.add(item);
    const task = runner.run(item, stop).then((outcome) => {
      running.delete(task);
      settle(item, outcome);
      wake();
    });
    running.add(task);
  }

  function settle(item: Item<Input>, outcome: Outcome<Output>): void {
    count(outcome);
    if (isSkipped(outcome)) open.delete(item);
    else if (isYielded(outcome, stop)) finished.push({ item, outcome });
    if (outcome.kind !== "failed" && outcome.kind !== "unfinished") return;
    const { error } = outcome;
    if (stopped.signal.aborted && effect === "cancel" && mayContinue(error)) notCancelled.push(error);
    // This must also happen if the input is the last one.
    if (item.jobId === undefined && concernsAll(error)) end = end && "error" in end ? end : { error };
  }

  function count(outcome: Outcome<Output>): void {
    const { kind } = outcome;
    if (kind === "unfinished") return;
    counts.unfinished--;
    counts[!isSkipped(outcome) && outcome.isDuplicate ? "duplicates" : kind]++;
  }

  return {
    counts,
    left: () => [...open].map((item) => itemOf(item, done(item))),
    open: async () => runner.open?.(),
    take() {
      const next = finished.shift();
      if (next) open.delete(next.item);
      source.read();
      return next && resultOf(next.item, next.outcome, done(next.item));
    },
    isOver: () => end !== undefined && running.size === 0 && finished.length === 0,
    throwError() {
      if (end && "error" in end) throw end.error;
    },
    change: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
    stop(wantsResults, reason) {
      end ??= {};
      stop.wantsResults ||= wantsResults;
      stopped.abort(reason);
      runner.stop?.(stopped.signal.reason);
      wake();
    },
    async close() {
      await Promise.all(running);
      await source.close();
      await runner.close?.();
      if (notCancelled.length > 0) throw notCancelled[0];
    },
  };

  function done(item: Item<Input>): () => Promise<void> {
    return async () => runner.delivered?.(item);
  }
}

type Ended<Output> = Exclude<Outcome<Output>, Skipped>;

function itemOf<Input>({ index, input, jobId, key }: Item<Input>, done: () => Promise<void>): BatchItem<Input> {
  const item = { index, input, jobId, ...(key !== undefined && { key }) };
  // This keeps the function out of the output when a program prints or stores a result.
  return Object.defineProperty(item, "done", { value: done }) as BatchItem<Input>;
}

function resultOf<Input, Output>(
  item: Item<Input>,
  outcome: Ended<Output>,
  done: () => Promise<void>,
): BatchResult<Input, Output> {
  const fields = itemOf(item, done);
  return outcome.kind === "completed"
    ? Object.assign(fields, { output: outcome.output })
    : Object.assign(fields, { error: outcome.error });
}
