import { sleep } from "../contract/clock";
import { ConfigurationError, NotFoundError, ServerlessGpuError } from "../errors/errors";
import type { CallContext } from "../transport/call";
import {
  aBoolean,
  aDate,
  anAbortSignal,
  aString,
  checkCallOptions,
  type OptionChecks,
  oneOfWords,
  positiveMs,
  wholeFrom,
} from "../transport/callOptions";
import type { RequestOptions } from "../transport/requestOptions";
import type { OpenLog } from "./calls";
import { createMerge, type Merge } from "./merge";
import type { LogLine } from "./record";
import { readLog } from "./workerLog";

/** Options for `logs`. */
export interface LogOptions extends Pick<RequestOptions, "signal"> {
  /** The id of a worker. @default all workers of the endpoint */
  readonly workerId?: string | undefined;
  /** `container` for the program's own output, `system` for RunPod's lines. @default both */
  readonly source?: "container" | "system" | undefined;
  /** The number of earlier lines per worker (integer, 0 to 5,000). @default 100 */
  readonly tail?: number | undefined;
  /** Only lines after this time are included. @default any time */
  readonly since?: Date | undefined;
  /**
   * `true` to continue with new lines, and with the lines of new workers, until you stop.
   * @default false: ends after the earlier lines were read
   */
  readonly follow?: boolean | undefined;
  /**
   * How long after the start to stop reading, in milliseconds (> 0).
   * @default none; without `follow`, the log of each worker ends after 5,000
   */
  readonly timeoutMs?: number | undefined;
}

/** Reads the logs of workers. */
export interface Logs {
  /**
   * Yields the lines of the workers' logs. Known secrets are redacted, and so is everything that
   * has the name or the format of a secret. Lines of the same worker are in order. A broken
   * connection is opened again, and lines that arrive twice are dropped. RunPod shows container
   * lines for about two minutes after it has removed the container.
   * @throws ConfigurationError over GraphQL, which has no logs; nothing was sent
   * @throws NotFoundError if the endpoint, or the worker, does not exist
   * @example
   * for await (const { workerId, line } of client.endpoints.logs("abc", { follow: true })) console.log(workerId, line);
   */
  logs(endpointId: string, options?: LogOptions): AsyncIterableIterator<LogLine, void, undefined>;
}

/** The largest number of earlier lines that the service sends. */
const LONGEST_TAIL = 5_000;

const LOG_OPTIONS: OptionChecks<LogOptions> = {
  workerId: aString,
  source: oneOfWords("container", "system"),
  tail: wholeFrom(0, LONGEST_TAIL),
  since: aDate,
  follow: aBoolean,
  timeoutMs: positiveMs,
  signal: anAbortSignal,
};

/**
 * The timeout of each read, in milliseconds. It is short because someone is waiting. With `follow`,
 * it is longer.
 */
const READ_MS = 5_000;
const FOLLOW_READ_MS = 30_000;
const readMs = ({ follow }: LogOptions) => (follow ? FOLLOW_READ_MS : READ_MS);
/**
 * How long no new line must arrive before all earlier lines are considered sent, in milliseconds.
 */
const QUIET_MS = 1_000;
const DEFAULT_TAIL = 100;
/**
 * The pause before a broken connection is opened again, and the pause between two checks for new
 * workers.
 */
const AGAIN_MS = 2_000;
const LOOK_MS = 10_000;
/** How many lines are remembered, in order to drop lines that arrive twice. */
const REMEMBERED = 1_000;

/** The requests needed to read logs. */
export interface LogCalls {
  /** @default the API has no logs */
  readonly open?: OpenLog | undefined;
  /** Reads the ids of an endpoint's workers. */
  readonly workerIds: (endpointId: string, limits: RequestOptions) => Promise<readonly string[]>;
  /** Hides the values of an endpoint's environment variables in all lines. */
  readonly hideVariables: (endpointId: string, limits: RequestOptions) => Promise<void>;
}

/** Returns the logs of one account. */
export function createLogs(context: CallContext, calls: LogCalls): Logs {
  return {
    logs(endpointId, options = {}) {
      checkCallOptions(options, LOG_OPTIONS);
      const { open } = calls;
      if (!open) throw noLogs();
      return readLogs(context, { ...calls, open }, endpointId, options);
    },
  };
}

/** Returns the error for an API that has no logs. */
function noLogs(): ConfigurationError {
  return new ConfigurationError(
    "GraphQL does not show workers' logs. Read them over REST v2: set SERVERLESS_GPU_API=v2, the client's option " +
      'api: "v2" or the command\'s option --api v2. This also works for endpoints that were created over GraphQL',
  );
}

async function* readLogs(
  context: CallContext,
  calls: LogCalls & { readonly open: OpenLog },
  endpointId: string,
  options: LogOptions,
): AsyncGenerator<LogLine, void, undefined> {
  const { follow = false, timeoutMs, signal: given } = options;
  const ending = new AbortController();
  const signal = given ? AbortSignal.any([given, ending.signal]) : ending.signal;
  await calls.hideVariables(endpointId, { signal, timeoutMs: readMs(options) });
  const cancel = timeoutMs === undefined ? () => {} : context.clock.schedule(timeoutMs, () => merge.end());
  const merge = createMerge<LogLine>();
  const reading = follow ? followAll : readAll;
  reading({ context, calls, endpointId, options, merge, signal }).then(merge.end, (error) =>
    ending.signal.aborted ? merge.end() : merge.fail(error),
  );
  try {
    yield* merge.items();
  } finally {
    cancel();
    merge.end();
    ending.abort();
  }
  given?.throwIfAborted();
}

interface Reading {
  readonly context: CallContext;
  readonly calls: LogCalls & { readonly open: OpenLog };
  readonly endpointId: string;
  readonly options: LogOptions;
  readonly merge: Merge<LogLine>;
  readonly signal: AbortSignal;
}

/** Reads the earlier lines of all workers. */
async function readAll(reading: Reading): Promise<void> {
  const ids = await workersOf(reading);
  await Promise.all(ids.map((workerId) => readWorker(reading, workerId)));
}

/** Reads the lines of all workers, including workers that start later, until the signal aborts. */
async function followAll(reading: Reading): Promise<void> {
  const { context, options, signal } = reading;
  const known = new Map<string, Promise<void>>();
  let ids = await workersOf(reading);
  for (;;) {
    for (const workerId of ids) {
      // A worker that has ended is no longer in the list.
      if (!known.has(workerId)) known.set(workerId, readWorker(reading, workerId));
    }
    if (options.workerId !== undefined) return void (await Promise.all(known.values()));
    const failed = Promise.all(known.values()).then(() => new Promise<never>(() => {}));
    await Promise.race([sleep(context.clock, LOOK_MS, signal), failed]);
    // Keep reading the lines of the workers that are already known.
    ids = await workersOf(reading).catch((error) => {
      warnOfWait(context, error);
      return [];
    });
  }
}

/**
 * Warns that a read failed while a log is followed.
 * @throws the error if another attempt would not help
 */
function warnOfWait(context: CallContext, error: unknown): void {
  if (!(error instanceof ServerlessGpuError) || error.disposition !== "wait") throw error;
  context.warn?.(`${error.message}. Still following the log`);
}

async function workersOf({ calls, endpointId, options, signal }: Reading): Promise<readonly string[]> {
  if (options.workerId !== undefined) return [options.workerId];
  return calls.workerIds(endpointId, { signal, timeoutMs: readMs(options) });
}

/** Reads the lines of a worker. With `follow`, a connection that ends is opened again. */
async function readWorker({ context, calls, endpointId, options, merge, signal }: Reading, workerId: string) {
  const { follow = false, source, tail = DEFAULT_TAIL, since } = options;
  const recent = createRecent();
  let lastEventId: string | undefined;
  for (;;) {
    const question = { endpointId, workerId, source, tail, since: since?.toISOString(), lastEventId };
    const limits = { signal, openMs: readMs(options), ...(!follow && { totalMs: READ_MS, quietMs: QUIET_MS }) };
    try {
      for await (const { id, ...line } of readLog(context, calls.open, question, limits)) {
        lastEventId = id || lastEventId;
        if (recent.isNew(line)) await merge.add(line);
      }
    } catch (error) {
      if (!(error instanceof ServerlessGpuError)) throw error;
      // The worker has ended. This is only an error if the caller asked for this particular worker.
      if (error instanceof NotFoundError && options.workerId === undefined) return;
      if (!follow) throw error;
      warnOfWait(context, error);
    }
    if (!follow || signal.aborted) return;
    await sleep(context.clock, AGAIN_MS, signal);
  }
}

/** Remembers lines, because a new connection may begin by repeating the last lines. */
function createRecent() {
  const keys = new Set<string>();
  return {
    isNew({ ts, line, source }: LogLine): boolean {
      const key = JSON.stringify([ts, source, line]);
      if (keys.has(key)) return false;
      keys.add(key);
      const [oldest] = keys;
      if (keys.size > REMEMBERED && oldest !== undefined) keys.delete(oldest);
      return true;
    },
  };
}
