import { type HttpResponse, stream } from "../io/http";
import { type Changes, type Filters, followChanges } from "./changes";
import type { Past } from "./endpointChanges";
import type { PageOptions } from "./pageOptions";

/** The minimum interval between changes, in milliseconds, which allows 10 per second. */
const INTERVAL_MS = 100;

/**
 * Returns the page's server-sent events: the whole state, followed by changes. A page that reads
 * slowly gets fewer and larger changes.
 */
export function events(
  options: PageOptions,
  filters: Filters,
  past: Pick<Past, "drawn">,
  signal: AbortSignal,
): HttpResponse {
  return stream(200, "text/event-stream; charset=utf-8", changesOf(followChanges(options, filters, past), signal));
}

async function* changesOf(changes: Changes, signal: AbortSignal): AsyncGenerator<string> {
  try {
    yield "retry: 1000\n\n";
    while (!signal.aborted) {
      const change = changes.next();
      if (change) yield `data: ${JSON.stringify(change)}\n\n`;
      await passed(INTERVAL_MS, signal);
    }
  } finally {
    changes.stop();
  }
}

/** Waits in real time, even if the emulator's clock stands still. */
function passed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}
