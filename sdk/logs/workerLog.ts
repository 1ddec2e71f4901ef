import { type Clock, onAbort } from "../contract/clock";
import { redactedStart } from "../secret";
import type { CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import { createEventParser } from "../transport/serverSentEvents";
import type { LogQuestion, OpenLog } from "./calls";
import type { LogLine } from "./record";
import { redactLine } from "./redactLine";

/** When to stop reading. */
export interface LogLimits {
  /** The time until the log begins, in milliseconds. @default `totalMs` */
  readonly openMs?: number | undefined;
  /** Ends the log after this time, in milliseconds. */
  readonly totalMs?: number | undefined;
  /** Ends the log when no line has arrived for this time after another, in milliseconds. */
  readonly quietMs?: number | undefined;
  /** Ends the log when more bytes than this have arrived, and calls `onCut`. */
  readonly maxBytes?: number | undefined;
  readonly onCut?: () => void;
  readonly signal?: AbortSignal | undefined;
}

/** A line with the id of its event, with which a later request goes on. */
export interface IdentifiedLine extends LogLine {
  readonly id: string;
}

/** The longest line that is shown, in characters. */
const LONGEST_LINE = 4_000;

/**
 * Yields the lines of one connection to a worker's log, redacted. Ends when the connection or the
 * time ends. A request that waits does not keep it from ending.
 */
export async function* readLog(
  context: CallContext,
  open: OpenLog,
  question: LogQuestion,
  { totalMs, openMs = totalMs, quietMs, maxBytes = Number.POSITIVE_INFINITY, onCut, signal }: LogLimits,
): AsyncGenerator<IdentifiedLine, void, undefined> {
  const operation = `the log of worker ${question.workerId} of endpoint ${question.endpointId}`;
  const bytes = await makeCall(context, {
    ...{ name: "workerLogs", operation, repeatability: "safe", signal, timeoutMs: openMs },
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

/** Returns the line of an event; `undefined` for an event that is no line. */
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
  // Patterns of secrets take long on a line of megabytes.
  const shown = redactLine(redactedStart(line, LONGEST_LINE + 1));
  return {
    ...{ workerId, source: typeof source === "string" ? source : "container", ts: time, id: id ?? time },
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
