import type { JournalTail, KeptEntry } from "../server/journal";
import type { Change } from "./views";

/** Selects the requests that the page lists. */
export interface RequestFilter {
  /** Text to find in the operation, path, endpoint id, status or fault rule name. */
  readonly text?: string | undefined;
  readonly only?: "errors" | "faults" | undefined;
}

type RequestChange = Pick<Change, "requests" | "requestsCleared" | "requestCount">;

/**
 * Follows the journal. Each call returns the requests that arrived or ended since the last call.
 */
export function createRequestChanges(tail: JournalTail, filter: RequestFilter, limit: number): () => RequestChange {
  const matches = matcher(filter);
  const pending = new Set<number>();
  let last = 0;
  let cleared = tail.cleared();

  function ended(): KeptEntry[] {
    const found: KeptEntry[] = [];
    for (const number of pending) {
      const entry = tail.find(number);
      if (entry?.outcome === "pending") continue;
      pending.delete(number);
      if (entry && matches(entry)) found.push(entry);
    }
    return found;
  }

  /** An unfinished request may match later. */
  function fresh(): KeptEntry[] {
    const found = tail.latest(last, limit, (entry) => {
      if (entry.outcome === "pending" && pending.size < 5 * limit) pending.add(entry.number);
      return matches(entry);
    });
    last = tail.last();
    return found;
  }

  return function changes() {
    const isCleared = cleared !== tail.cleared();
    if (isCleared) {
      cleared = tail.cleared();
      last = 0;
      pending.clear();
    }
    const before = last;
    const requests = [...ended(), ...fresh()].map(tail.redacted);
    return {
      ...(requests.length > 0 && { requests }),
      ...((isCleared || last !== before) && { requestCount: last }),
      ...(isCleared && { requestsCleared: true }),
    };
  };
}

function matcher({ text, only }: RequestFilter): (entry: KeptEntry) => boolean {
  const wanted = (text ?? "").toLowerCase();
  const has = (value: string | number | undefined) => `${value ?? ""}`.toLowerCase().includes(wanted);
  return ({ operation, request, endpointId, status, fault, outcome }) => {
    if (only === "errors" && outcome !== "error" && outcome !== "cut") return false;
    if (only === "faults" && fault === undefined) return false;
    return wanted === "" || [operation, request.path, endpointId, status, fault].some(has);
  };
}
