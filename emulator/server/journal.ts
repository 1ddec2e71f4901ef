import type { Clock } from "../../sdk/contract/clock";
import type { Keys } from "../io/auth";
import type { Call, HttpRequest, HttpResponse, Interface } from "../io/http";
import type { FidelityId } from "../model/fidelity";
import type { WorkerOutput } from "../programs/launchWorker";
import { createExchanges, type Exchange } from "./exchanges";
import { isHidden, REDACTED, secretsIn, secretValues, withoutSecrets } from "./secretArguments";

/**
 * A request to the emulator. Keys, storage credentials, passwords and environment variables are
 * replaced by `[redacted]`.
 */
export interface JournalEntry {
  /** The request's number, counted from 1 since the start or the last `clear`. */
  readonly number: number;
  /** When the request arrived, in milliseconds since the epoch on the emulator's clock. */
  readonly at: number;
  /** The API that the request used. */
  readonly interface: Interface;
  /** The HTTP method. */
  readonly method: string;
  /** The path, including the query. */
  readonly path: string;
  /**
   * `saveEndpoint`, `deleteEndpoint`, `myself`, `getPod`, `run`, `status`, and so on; `unknown` for
   * anything else.
   */
  readonly operation: string;
  /** The id of the endpoint that the request referred to or created. */
  readonly endpointId?: string | undefined;
  /** The operation's arguments as they were sent. A job's input is not recorded. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The name of the fault rule that was applied, if any. */
  readonly fault?: string | undefined;
  /** The HTTP status of the response, if there is one. */
  readonly status?: number | undefined;
  /**
   * The state of the request. `cut` means that the connection ended before the response was
   * complete.
   */
  readonly outcome: "pending" | "ok" | "error" | "cut";
  /** The reason for a refusal that the status does not show. */
  readonly error?: string | undefined;
  /** The id of the fidelity table row that explains the response, if known. */
  readonly fidelity?: FidelityId | undefined;
  /** The time from arrival to response, in milliseconds on the emulator's clock. */
  readonly durationMs?: number | undefined;
}

/** Selects requests that match all given fields. */
export type JournalFilter = Partial<
  Pick<JournalEntry, "interface" | "operation" | "endpointId" | "outcome" | "status">
>;

/**
 * A line that a worker program printed, and when it arrived. The emulator's keys are replaced by
 * `[redacted]`.
 */
export interface WorkerLine extends WorkerOutput {
  /** The time in milliseconds since the epoch on the emulator's clock. */
  readonly at: number;
}

/** Selects worker output that matches all given fields. */
export type WorkerLineFilter = Partial<Pick<WorkerLine, "endpointId" | "workerId" | "stream">>;

/**
 * The requests to the emulator in order of arrival, and the output of worker programs. The journal
 * keeps at least the latest 10,000 requests, and at least the latest 10,000 lines or 10 million
 * characters of output. Requests of worker programs are not recorded.
 */
export interface Journal {
  /** Returns the requests, in order. */
  requests(filter?: JournalFilter): JournalEntry[];
  /** Returns the operations of the requests, in order. */
  operations(filter?: JournalFilter): string[];
  /**
   * Returns the lines that worker programs printed, and the starts and ends of their processes, in
   * order.
   */
  workerOutput(filter?: WorkerLineFilter): WorkerLine[];
  /** Deletes all entries. */
  clear(): void;
}

/** The entry of a request that is not complete. */
interface OpenEntry {
  /**
   * Completes the entry, without a response if the connection was cut. Only the first call has an
   * effect.
   */
  end(response?: HttpResponse): void;
}

/** Reads the end of the journal for the page. */
export interface JournalTail {
  /** Returns the number of the latest request; 0 if there is none. */
  last(): number;
  /** Returns the latest matching requests in order, at most `limit`. */
  latest(limit: number, matches: (entry: KeptEntry) => boolean): KeptEntry[];
  /** Returns a redacted request. */
  redacted(entry: KeptEntry): JournalEntry;
  /** Returns a request and its response as they were sent, if the journal still contains them. */
  exchange(number: number): Exchange | undefined;
}

/** Adds an entry for a request that has arrived. */
export type OpenJournal = (request: HttpRequest, call: Call, fault: string | undefined) => OpenEntry;

/** Limits memory use, because an emulator may run for weeks. */
const MAX_ENTRIES = 20_000;
/** The limit for all worker output, in characters. */
const MAX_OUTPUT = 20_000_000;

/** A stored entry. It is redacted when it is read, because most entries are never read. */
export interface KeptEntry extends Omit<JournalEntry, "path"> {
  readonly request: Pick<HttpRequest, "path" | "query">;
  endpointId: string | undefined;
  status: number | undefined;
  outcome: JournalEntry["outcome"];
  error: string | undefined;
  fidelity?: FidelityId | undefined;
  durationMs: number | undefined;
}

/** The functions that follow the journal. */
interface JournalListeners {
  /** Called with each line that a worker prints. */
  readonly onWorkerOutput?: ((line: WorkerLine) => void) | undefined;
  /** Called with each request when it has ended. */
  readonly onRequest?: ((request: JournalEntry) => void) | undefined;
}

export function createJournal(
  clock: Clock,
  { apiKey, restrictedApiKey }: Keys,
  { onWorkerOutput, onRequest }: JournalListeners,
) {
  const entries: KeptEntry[] = [];
  const lines: WorkerLine[] = [];
  let outputSize = 0;
  let count = 0;
  const scrub = scrubber([apiKey, restrictedApiKey ?? ""].filter(isHidden));
  const exchanges = createExchanges(scrub);

  const requests = (filter: JournalFilter = {}) =>
    matching<KeptEntry, JournalFilter>(entries, filter).map((entry) => redacted(entry, scrub));

  function addOutput(output: WorkerOutput): void {
    const line = { ...output, line: scrub(output.line), at: clock.now() };
    lines.push(line);
    onWorkerOutput?.(line);
    outputSize += line.line.length;
    if (lines.length <= MAX_ENTRIES && outputSize <= MAX_OUTPUT) return;
    for (const dropped of lines.splice(0, Math.ceil(lines.length / 2))) outputSize -= dropped.line.length;
  }

  const journal: Journal = {
    requests,
    operations: (filter) => requests(filter).map((entry) => entry.operation),
    workerOutput: (filter = {}) => matching<WorkerLine, WorkerLineFilter>(lines, filter).map((line) => ({ ...line })),
    clear() {
      entries.length = 0;
      exchanges.clear();
      lines.length = 0;
      outputSize = 0;
      count = 0;
    },
  };

  const open: OpenJournal = (request, call, fault) => {
    const begunAt = clock.monotonic();
    const entry = newEntry(++count, clock.now(), request, call, fault);
    entries.push(entry);
    exchanges.begin(entry.number, request);
    if (entries.length > MAX_ENTRIES) entries.splice(0, MAX_ENTRIES / 2);
    return {
      end(response) {
        if (entry.outcome !== "pending") return;
        if (response) exchanges.end(entry.number, response);
        endEntry(entry, response, clock.monotonic() - begunAt);
        onRequest?.(redacted(entry, scrub));
      },
    };
  };

  const tail: JournalTail = {
    last: () => count,
    latest(limit, matches) {
      const found: KeptEntry[] = [];
      for (let index = entries.length - 1; index >= 0 && found.length < limit; index--) {
        const entry = entries[index] as KeptEntry;
        if (matches(entry)) found.push(entry);
      }
      return found.reverse();
    },
    redacted: (entry) => redacted(entry, scrub),
    exchange(number) {
      const entry = entries[number - 1 - (count - entries.length)];
      return exchanges.find(number, secretValues(entry?.arguments.input).filter(Boolean));
    },
  };

  return { journal, open, tail, addOutput };
}

function newEntry(
  number: number,
  at: number,
  { method, path, query }: Parameters<OpenJournal>[0],
  call: Parameters<OpenJournal>[1],
  fault: Parameters<OpenJournal>[2],
): KeptEntry {
  return {
    number,
    at,
    interface: call.interface,
    method,
    request: { path, query },
    operation: call.operation,
    endpointId: call.endpointId,
    arguments: call.arguments,
    fault,
    status: undefined,
    outcome: "pending",
    error: undefined,
    durationMs: undefined,
  };
}

function endEntry(entry: KeptEntry, response: HttpResponse | undefined, durationMs: number): void {
  entry.status = response?.status;
  entry.endpointId ??= response?.endpointId;
  entry.error = response?.error;
  entry.fidelity = response?.fidelity;
  entry.outcome = !response ? "cut" : response.error || response.status >= 400 ? "error" : "ok";
  entry.durationMs = Math.round(durationMs);
}

function matching<T extends F, F extends object>(entries: readonly T[], filter: Partial<F>): T[] {
  const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
  return entries.filter((entry) => wanted.every(([name, value]) => entry[name as keyof F] === value));
}

/** Returns a function that removes the emulator's keys from a string. */
function scrubber(keys: readonly string[]): (text: string) => string {
  const secrets = [...new Set(keys.flatMap((key) => [key, encodeURIComponent(key)]))];
  return (text) => secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, REDACTED), text);
}

/**
 * If an entry cannot be redacted, its arguments are dropped, so that the other entries stay
 * readable.
 */
function redacted({ request, arguments: args, ...entry }: KeptEntry, scrub: (text: string) => string): JournalEntry {
  const path = pathOf(request);
  try {
    const error =
      entry.error && secretsIn(args).reduce((text, secret) => text.replaceAll(secret, REDACTED), entry.error);
    return scrubbed({ ...entry, error, path, arguments: withoutSecrets(args) }, scrub);
  } catch {
    const error = entry.error && REDACTED;
    return scrubbed({ ...entry, error, path, arguments: { unreadable: "they cannot be shown" } }, scrub);
  }
}

/** Returns a copy without the emulator's keys in any string. */
function scrubbed(entry: JournalEntry, scrub: (text: string) => string): JournalEntry {
  return JSON.parse(JSON.stringify(entry), (_, value) => (typeof value === "string" ? scrub(value) : value));
}

function pathOf({ path, query }: Pick<HttpRequest, "path" | "query">): string {
  if (query.size === 0) return path;
  const shown = new URLSearchParams(query);
  if (shown.has("api_key")) shown.set("api_key", REDACTED);
  return `${path}?${decodeURIComponent(shown.toString())}`;
}
