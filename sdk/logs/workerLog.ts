import { type Clock, onAbort } from "../contract/clock";
import { redactedStart } from "../errors/secretText";
import type { CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import { createEventParser } from "../transport/serverSentEvents";
import type { LogQuestion, OpenLog } from "./calls";
import type { LogLine } from "./record";
import { redactLine } from "./redactLine";

/** The conditions under which reading stops. */
interface LogLimits {
  /** How long the log may take to open, in milliseconds. @default `totalMs` */
  readonly openMs?: number | undefined;
  /** How long the log is read in total, in milliseconds. */
  readonly totalMs?: number | undefined;
  /** How long the log may go without data after the first data has arrived, in milliseconds. */
  readonly quietMs?: number | undefined;
  /** The maximum number of bytes. When more bytes arrive, the log ends and `onCut` is called. */
  readonly maxBytes?: number | undefined;
  readonly onCut?: () => void;
  readonly signal?: AbortSignal | undefined;
}

/** A line with the id of its event. A later request can continue after that id. */
interface IdentifiedLine extends LogLine {
  readonly id: string;
}

/** The maximum length of a line that is shown, in characters. */
const LONGEST_LINE = 4_000;

/**
 * Yields the lines from a single connection to a worker's log, redacted. Ends when the connection
 * ends or the time is up, even while a read is pending.
 */
export async function* readLog(
  context: CallContext,
  open: OpenLog,
  question: LogQuestion,
  { totalMs, openMs = totalMs, quietMs, maxBytes = Number.POSITIVE_INFINITY, onCut, signal }: LogLimits,
): AsyncGenerator<IdentifiedLine, void, undefined> {
  const operation = `the log of worker ${question.workerId} of endpoint ${question.endpointId}`;
  const bytes = await makeCall(context, {
    name: "workerLogs",
    operation,
    repeatability: "safe",
    signal,
    timeoutMs: openMs,
    attempt: (each) => open(operation, question, each),
  });
  const chunks = bytes[Symbol.asyncIterator]();
  const end = () => void chunks.return?.();
  const quiet = createTimer(context.clock, end);
  const total = createTimer(context.clock, end);
  const ignoreAbort = onAbort(signal, end);
  total.start(totalMs);
  try {
    const parser = createEventParser();
    let received = 0;
    for (;;) {
      const next = await chunks.next();
      if (next.done) return;
      received += next.value.length;
      if (received > maxBytes) return void onCut?.();
      for (const { data, id } of parser.push(next.value)) {
        const line = lineIn(data, question.workerId, id);
        if (line) yield line;
      }
      quiet.start(quietMs);
    }
  } finally {
    for (const cancel of [quiet.cancel, total.cancel, ignoreAbort]) cancel();
    end();
  }
}

/** Returns the line in an event, or `undefined` if the event contains no line. */
function lineIn(data: string, workerId: string, id: string | undefined): IdentifiedLine | undefined {
  let event: Readonly<Record<string, unknown>>;
  try {
    event = JSON.parse(data) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
  const { source, line, ts } = event ?? {};
  if (typeof line !== "string") return undefined;
  const time = typeof ts === "string" ? ts : (id ?? "");
  // Shorten the line first, because the patterns for secrets are slow on a line of several
  // megabytes.
  const shown = redactLine(redactedStart(line, LONGEST_LINE + 1));
  return {
    workerId,
    source: typeof source === "string" ? source : "container",
    ts: time,
    id: id ?? time,
    line: shown.length > LONGEST_LINE ? `${shown.slice(0, LONGEST_LINE)}…` : shown,
  };
}

function createTimer(clock: Clock, onEnd: () => void) {
  let cancel = () => {};
  return {
    start(ms: number | undefined) {
      cancel();
      if (ms !== undefined) cancel = clock.schedule(ms, onEnd);
    },
    cancel: () => cancel(),
  };
}
