import { sleep } from "../contract/clock";
import { ConfigurationError, NotFoundError, ServerlessGpuError } from "../errors";
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

/** Options of `logs`. */
export interface LogOptions extends Pick<RequestOptions, "signal"> {
  /** Id of one worker. @default all workers of the endpoint */
  readonly workerId?: string | undefined;
  /** `container` for the program's own output, `system` for the service's lines. @default both */
  readonly source?: "container" | "system" | undefined;
  /** Number of earlier lines of each worker, whole, 0 to 5,000. @default 100 */
  readonly tail?: number | undefined;
  /** Only lines after this time. @default any */
  readonly since?: Date | undefined;
  /**
   * `true` goes on with new lines, and with the lines of new workers, until you stop.
   * @default false: ends when the earlier lines were read
   */
  readonly follow?: boolean | undefined;
  /**
   * Ends after this time, in milliseconds: > 0.
   * @default none; without `follow`, the log of each worker ends after 5,000
   */
  readonly timeoutMs?: number | undefined;
}

/** Reads the logs of workers. */
export interface Logs {
  /**
   * Yields the lines of the workers' logs, redacted: known secrets, and what has the name or the
   * form of one. Lines of one worker are in order. A connection that breaks is made again, and
   * lines that come twice are dropped. The service shows container lines for about two minutes
   * after it has removed the container.
   * @throws ConfigurationError over GraphQL, which has no logs; nothing was sent
   * @throws NotFoundError if the endpoint, or the worker, does not exist
   * @example
   * for await (const { workerId, line } of client.endpoints.logs("abc", { follow: true })) console.log(workerId, line);
   */
  logs(endpointId: string, options?: LogOptions): AsyncIterableIterator<LogLine, void, undefined>;
}

const LOG_OPTIONS: OptionChecks<LogOptions> = {
  workerId: aString,
  source: oneOfWords("container", "system"),
  tail: wholeFrom(0),
  since: aDate,
  follow: aBoolean,
  timeoutMs: positiveMs,
  signal: anAbortSignal,
};

/** The time for each read, in milliseconds: people wait. With `follow` they have more patience. */
const READ_MS = 5_000;
const FOLLOW_READ_MS = 30_000;
const readMs = ({ follow }: LogOptions) => (follow ? FOLLOW_READ_MS : READ_MS);
/** After this time without a new line, the earlier lines have been sent, in milliseconds. */
const QUIET_MS = 1_000;
const DEFAULT_TAIL = 100;
/** The pause before a broken connection is made again, and between two looks for new workers. */
const AGAIN_MS = 2_000;
const LOOK_MS = 10_000;
/** How many lines are remembered to drop those that come twice. */
const REMEMBERED = 1_000;

/** The requests that logs need. */
export interface LogCalls {
  /** @default the interface has no logs */
  readonly open?: OpenLog | undefined;
  /** Reads the ids of an endpoint's workers. */
  readonly workerIds: (endpointId: string, limits: RequestOptions) => Promise<readonly string[]>;
  /** Hides the values of an endpoint's variables in all lines. */
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

/** Returns the error of an interface without logs. */
export function noLogs(): ConfigurationError {
  return new ConfigurationError(
    'GraphQL has no logs of workers, only REST v2 does. Read them with SERVERLESS_GPU_API=v2 (api: "v2" of the client, ' +
      "--api v2 of the command), which works for endpoints that were created over GraphQL as well",
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

/** Reads the lines of all workers, and of those that start later, until the signal aborts. */
async function followAll(reading: Reading): Promise<void> {
  const { context, options, signal } = reading;
  const known = new Map<string, Promise<void>>();
  let ids = await workersOf(reading);
  for (;;) {
    for (const workerId of ids) {
      // A worker that has ended is not in the list any more.
      if (!known.has(workerId)) known.set(workerId, readWorker(reading, workerId));
    }
    if (options.workerId !== undefined) return void (await Promise.all(known.values()));
    const failed = Promise.all(known.values()).then(() => new Promise<never>(() => {}));
    await Promise.race([sleep(context.clock, LOOK_MS, signal), failed]);
    // The lines of the known workers go on.
    ids = await workersOf(reading).catch((error) => {
      warnOfWait(context, error);
      return [];
    });
  }
}

/**
 * Says that a read of a log that is followed has failed.
 * @throws the error if another try is no use
 */
function warnOfWait(context: CallContext, error: unknown): void {
  if (!(error instanceof ServerlessGpuError) || error.disposition !== "wait") throw error;
  context.warn?.(`${error.message}. The log is still followed`);
}

async function workersOf({ calls, endpointId, options, signal }: Reading): Promise<readonly string[]> {
  if (options.workerId !== undefined) return [options.workerId];
  return calls.workerIds(endpointId, { signal, timeoutMs: readMs(options) });
}

/** Reads the lines of one worker. With `follow`, a connection that ends is made again. */
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
      // A worker that has ended, unless it was asked for.
      if (error instanceof NotFoundError && options.workerId === undefined) return;
      if (!follow) throw error;
      warnOfWait(context, error);
    }
    if (!follow || signal.aborted) return;
    await sleep(context.clock, AGAIN_MS, signal);
  }
}

/** Remembers lines: a new connection can begin with the last ones again. */
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
