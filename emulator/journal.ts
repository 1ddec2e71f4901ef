import type { Clock } from "../sdk/clock";
import type { Keys } from "./auth";
import type { Call, HttpRequest, HttpResponse, Interface } from "./http";

/** A request that the emulator was sent. Keys and storage credentials are replaced by `[redacted]`. */
export interface JournalEntry {
  /** Counts the requests since the start or the last `clear`, from 1. */
  readonly number: number;
  /** When it arrived, in milliseconds since the epoch on the emulator's clock. */
  readonly at: number;
  readonly interface: Interface;
  readonly method: string;
  /** With the query. */
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
  requests(filter?: JournalFilter): JournalEntry[];
  /** The operations' names, in order. */
  operations(filter?: JournalFilter): string[];
  clear(): void;
}

/** An entry that is being written. */
export interface OpenEntry {
  /** Ends the entry; undefined when the connection was cut. Only the first call counts. */
  end(response: HttpResponse | undefined): void;
}

/** More entries than this are kept by nobody's test; an emulator may run for weeks. */
const MAX_ENTRIES = 20_000;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export function createJournal(clock: Clock, { apiKey, restrictedApiKey }: Keys) {
  const entries: Writable<JournalEntry>[] = [];
  let count = 0;
  const scrub = scrubber([apiKey, restrictedApiKey].filter((key) => key !== undefined));

  const requests = (filter: JournalFilter = {}) => {
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
    return entries
      .filter((entry) => wanted.every(([name, value]) => entry[name as keyof JournalEntry] === value))
      .map((entry) => ({ ...entry }));
  };

  const journal: Journal = {
    requests,
    operations: (filter) => requests(filter).map((entry) => entry.operation),
    clear() {
      entries.length = 0;
      count = 0;
    },
  };

  function open(request: HttpRequest, call: Call, fault: string | undefined): OpenEntry {
    const at = clock.now();
    const entry: Writable<JournalEntry> = {
      number: ++count,
      at,
      interface: call.interface,
      method: request.method,
      path: scrub(pathOf(request)),
      operation: scrub(call.operation),
      endpointId: call.endpointId === undefined ? undefined : scrub(call.endpointId),
      arguments: JSON.parse(JSON.stringify(redacted(call)), (_, value) =>
        typeof value === "string" ? scrub(value) : value,
      ),
      fault,
      outcome: "pending",
    };
    entries.push(entry);
    if (entries.length > MAX_ENTRIES) entries.splice(0, MAX_ENTRIES / 2);
    return {
      end(response) {
        if (entry.outcome !== "pending") return;
        entry.status = response?.status;
        entry.endpointId ??= response?.endpointId;
        entry.error = response?.error === undefined ? undefined : scrub(response.error);
        entry.outcome = !response ? "cut" : response.error || response.status >= 400 ? "error" : "ok";
        entry.durationMs = clock.now() - at;
      },
    };
  }

  return { journal, open };
}

const REDACTED = "[redacted]";

/** Replaces the keys that the emulator knows, wherever a client may have put them. */
function scrubber(keys: readonly string[]): (text: string) => string {
  const secrets = [...new Set(keys.flatMap((key) => [key, encodeURIComponent(key)]))];
  return (text) => secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, REDACTED), text);
}

function pathOf({ path, query }: HttpRequest): string {
  if (query.size === 0) return path;
  const shown = new URLSearchParams(query);
  if (shown.has("api_key")) shown.set("api_key", REDACTED);
  return `${path}?${decodeURIComponent(shown.toString())}`;
}

/** A job's input, its storage credentials and what a webhook's address carries are its owner's secrets. */
function redacted({ arguments: args }: Call): Record<string, unknown> {
  const shown: Record<string, unknown> = { ...args };
  const { s3Config, webhook } = args;
  if (typeof s3Config === "object" && s3Config !== null) shown.s3Config = { ...s3Config, accessSecret: REDACTED };
  if (typeof webhook === "string") shown.webhook = webhook.replace(/\?.*$/s, `?${REDACTED}`);
  return shown;
}
