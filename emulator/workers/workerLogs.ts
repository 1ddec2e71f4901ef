import type { Clock } from "../../sdk/contract/clock";

/** Where a log line comes from: the worker's program or the service. */
type LogSource = "container" | "system";

/** A line of a worker's log. */
export interface LoggedLine {
  readonly source: LogSource;
  readonly line: string;
  /** When the line was written (RFC 3339). It is also the id of the line's event. */
  readonly ts: string;
}

/** Selects the lines to read. */
export interface LogFilter {
  /** @default both */
  readonly source?: LogSource | undefined;
  /** The number of earlier lines to read. */
  readonly tail: number;
  /** Only lines after this time. */
  readonly after?: string | undefined;
}

/** The logs of all workers. */
export interface WorkerLogs {
  add(workerId: string, source: LogSource, line: string): void;
  /** Drops the program's lines, as the service does after it has removed a container. */
  dropContainer(workerId: string): void;
  /** Yields a worker's existing lines and then each new one until the signal aborts. */
  read(workerId: string, filter: LogFilter, signal: AbortSignal): AsyncGenerator<LoggedLine, void, undefined>;
  /** Returns the last lines of a worker's log. */
  last(workerId: string, count: number): readonly LoggedLine[];
  clear(): void;
}

/** How many lines are kept per worker, and for how many workers. */
const MOST_LINES = 5_000;
const MOST_WORKERS = 1_000;

interface Log {
  lines: LoggedLine[];
  readonly readers: Set<() => void>;
  /** The number of lines added so far. */
  added: number;
}

export function createWorkerLogs(clock: Clock): WorkerLogs {
  const logs = new Map<string, Log>();

  function logOf(workerId: string): Log {
    const existing = logs.get(workerId);
    if (existing) return existing;
    const log: Log = { lines: [], readers: new Set(), added: 0 };
    logs.set(workerId, log);
    const [oldest] = logs.keys();
    if (logs.size > MOST_WORKERS && oldest !== undefined) logs.delete(oldest);
    return log;
  }

  return {
    add(workerId, source, line) {
      const log = logOf(workerId);
      log.lines.push({ source, line, ts: new Date(clock.now()).toISOString() });
      log.added += 1;
      if (log.lines.length > MOST_LINES) log.lines.shift();
      for (const wake of [...log.readers]) wake();
    },
    dropContainer(workerId) {
      const log = logs.get(workerId);
      if (log) log.lines = log.lines.filter(({ source }) => source === "system");
    },
    async *read(workerId, { source, tail, after }, signal) {
      const log = logOf(workerId);
      const isWanted = (each: LoggedLine) =>
        (source === undefined || each.source === source) && (after === undefined || each.ts > after);
      let seen = log.added;
      const earlier = log.lines.filter(isWanted);
      yield* earlier.slice(Math.max(0, earlier.length - tail));
      while (!signal.aborted) {
        const isNew = log.added - seen;
        seen = log.added;
        if (isNew > 0) yield* log.lines.slice(-isNew).filter(isWanted);
        else await nextLine(log, signal);
      }
    },
    last: (workerId, count) => logs.get(workerId)?.lines.slice(-count) ?? [],
    clear: () => logs.clear(),
  };
}

/** Resolves when a line is added or the signal aborts. */
function nextLine({ readers }: Log, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      readers.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    readers.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    if (signal.aborted) wake();
  });
}
