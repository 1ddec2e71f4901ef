import type { Clock } from "../../sdk/contract/clock";
import type { Keys } from "../io/auth";
import type { Call, HttpRequest, HttpResponse, Interface } from "../io/http";

/** A request that the emulator was sent. Keys and storage credentials are replaced by `[redacted]`. */
export interface JournalEntry {
  /** Counts the requests since the start or the last `clear`, from 1. */
  readonly number: number;
  /** When it arrived, in milliseconds since the epoch on the emulator's clock. */
  readonly at: number;
  /** The interface that was asked. */
  readonly interface: Interface;
  /** The HTTP method. */
  readonly method: string;
  /** The path, with its query. */
  readonly path: string;
  /** `saveEndpoint`, `deleteEndpoint`, `myself`, `getPod`, `run`, `status`, …; `unknown` for what is none. */
  readonly operation: string;
  /** Of the endpoint that the request names or that it created. */
  readonly endpointId?: string | undefined;
  /** What the operation was given, as it was written. The input of a job is not recorded. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The name of the fault rule that was applied. */
  readonly fault?: string | undefined;
  /** The HTTP status; absent while there is no answer, or when none was sent. */
  readonly status?: number | undefined;
  /** `cut`: the connection ended before the answer was complete, by a fault rule or by the client. */
  readonly outcome: "pending" | "ok" | "error" | "cut";
  /** Why the request was refused, where its status alone does not tell. */
  readonly error?: string | undefined;
  /** From arrival to the end of the answer, on the emulator's clock. */
  readonly durationMs?: number | undefined;
}

/** Picks requests: those that agree in every field that is given. */
export type JournalFilter = Partial<
  Pick<JournalEntry, "interface" | "operation" | "endpointId" | "outcome" | "status">
>;

/** Everything that was asked of the emulator, in order of arrival. The oldest go when there are very many. */
export interface Journal {
  /** The requests, in order. */
  requests(filter?: JournalFilter): JournalEntry[];
  /** The operations' names, in order. */
  operations(filter?: JournalFilter): string[];
  /** Forgets all of them. */
  clear(): void;
}

/** An entry that is being written. */
export interface OpenEntry {
  /** Ends the entry; undefined when the connection was cut. Only the first call counts. */
  end(response?: HttpResponse): void;
}

/** Begins an entry for a request that has arrived. */
export type OpenJournal = (request: HttpRequest, call: Call, fault: string | undefined) => OpenEntry;

/** More entries than this are kept by nobody's test; an emulator may run for weeks. */
const MAX_ENTRIES = 20_000;

/** An entry as it is kept: redacted only when somebody looks, since most are never looked at. */
interface Kept extends Omit<JournalEntry, "path"> {
  readonly request: Pick<HttpRequest, "path" | "query">;
  endpointId: string | undefined;
  status: number | undefined;
  outcome: JournalEntry["outcome"];
  error: string | undefined;
  durationMs: number | undefined;
}

export function createJournal(clock: Clock, { apiKey, restrictedApiKey }: Keys) {
  const entries: Kept[] = [];
  let count = 0;
  const scrub = scrubber([apiKey, restrictedApiKey].filter((key) => key !== undefined));

  const requests = (filter: JournalFilter = {}) => {
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
    return entries
      .filter((entry) => wanted.every(([name, value]) => entry[name as keyof JournalFilter] === value))
      .map((entry) => redacted(entry, scrub));
  };

  const journal: Journal = {
    requests,
    operations: (filter) => requests(filter).map((entry) => entry.operation),
    clear() {
      entries.length = 0;
      count = 0;
    },
  };

  const open: OpenJournal = ({ method, path, query }, call, fault) => {
    const at = clock.now();
    const begunAt = clock.monotonic();
    const entry: Kept = {
      number: ++count,
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
    entries.push(entry);
    if (entries.length > MAX_ENTRIES) entries.splice(0, MAX_ENTRIES / 2);
    return {
      end(response) {
        if (entry.outcome !== "pending") return;
        entry.status = response?.status;
        entry.endpointId ??= response?.endpointId;
        entry.error = response?.error;
        entry.outcome = !response ? "cut" : response.error || response.status >= 400 ? "error" : "ok";
        entry.durationMs = Math.round(clock.monotonic() - begunAt);
      },
    };
  };

  return { journal, open };
}

const REDACTED = "[redacted]";

/** Replaces the keys that the emulator knows, wherever a client may have put them. */
function scrubber(keys: readonly string[]): (text: string) => string {
  const secrets = [...new Set(keys.flatMap((key) => [key, encodeURIComponent(key)]))];
  return (text) => secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, REDACTED), text);
}

function redacted({ request, arguments: args, ...entry }: Kept, scrub: (text: string) => string): JournalEntry {
  const shown = { ...entry, path: pathOf(request), arguments: withoutSecrets(args) };
  return JSON.parse(JSON.stringify(shown), (_, value) => (typeof value === "string" ? scrub(value) : value));
}

function pathOf({ path, query }: Pick<HttpRequest, "path" | "query">): string {
  if (query.size === 0) return path;
  const shown = new URLSearchParams(query);
  if (shown.has("api_key")) shown.set("api_key", REDACTED);
  return `${path}?${decodeURIComponent(shown.toString())}`;
}

/** A job's storage credentials and what a webhook's address carries are its owner's secrets; its input is not here. */
function withoutSecrets(args: JournalEntry["arguments"]): Record<string, unknown> {
  const { s3Config, webhook, ...rest } = args;
  const shown: Record<string, unknown> = rest;
  if (typeof s3Config === "object" && s3Config !== null) shown.s3Config = { ...s3Config, accessSecret: REDACTED };
  if (typeof webhook === "string") shown.webhook = webhook.replace(/\?.*$/s, `?${REDACTED}`);
  return shown;
}
