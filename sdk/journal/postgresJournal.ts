import { ServerlessGpuError } from "../errors/errors";
import { SecretText } from "../errors/secretText";
import { checkCallOptions, hasMethod, msFrom, optionCheck } from "../transport/callOptions";
import type { Journal, JournalBatch, JournalEntry, JournalState, OpenJournal } from "./journal";
import { JournalRefusedError, JournalUnavailableError } from "./journalErrors";
import {
  ADD_BATCH,
  CLAIM,
  COLLECT,
  COUNT_OPEN,
  FORGET,
  POSTGRES_FORMAT,
  POSTGRES_SCHEMA,
  READ_BATCH,
  READ_RESULT,
  RECORD,
} from "./postgresSql";
import { requireSameBatch } from "./sameBatch";

/** The result of a statement. */
export interface PostgresRows {
  /** One object per row, with a field for each column. */
  readonly rows: readonly unknown[];
}

/** A statement with its time limit. */
export interface PostgresQuery {
  /** The SQL. */
  readonly text: string;
  /** The values of its parameters. */
  values?: unknown[];
  /** The time after which the pool gives up the connection, in milliseconds. */
  readonly query_timeout: number;
}

/** The part of a pool from the package `pg` that the journal uses. */
export interface PostgresPool {
  /** Runs a statement on any connection of the pool. */
  query(query: PostgresQuery): Promise<PostgresRows>;
  /** Adds a listener. A pool emits the event `error` when it loses an idle connection. */
  on?(event: "error", listener: (error: Error) => void): unknown;
}

/** Options for `postgresJournal`. */
export interface PostgresJournalOptions {
  /** A pool from the package `pg`. The journal does not close it. */
  readonly pool: PostgresPool;
  /**
   * How long a process owns its claims after its last sign of life, in milliseconds, ≥ 1,000. If a
   * process is killed, other processes continue with its jobs after this time.
   * @default 60,000
   */
  readonly leaseMs?: number | undefined;
}

/** A journal in a database. */
export interface PostgresJournal extends Journal {
  /**
   * Creates the tables in the schema `serverless_gpu` if they do not exist. `POSTGRES_SCHEMA`
   * contains the statements.
   */
  migrate(): Promise<void>;
  /**
   * Deletes the rows of a batch. If the batch is run again afterwards, all its inputs are submitted
   * again.
   * @throws JournalRefusedError if the batch does not exist, or if an input has no final result
   */
  forget(batch: string): Promise<void>;
}

/** An arbitrary number that no other program is likely to use. */
const LOCK = 7_236_411_905;

const DEFAULT_LEASE_MS = 60_000;

const SHORTEST_LEASE_MS = 1_000;

/** How long a statement may take, in milliseconds. A connection that stalls reports no error. */
export const STATEMENT_MS = 15_000;

/**
 * Keeps the record of batches in PostgreSQL. Any number of processes, on any machines, can work on
 * the same batch. Each call takes one or two statements for many keys. The clocks of the machines
 * don't matter, because leases end by the clock of the database.
 * @throws InvalidInputError
 * @example
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const journal = postgresJournal({ pool });
 * await journal.migrate();
 * for await (const { key, output } of endpoint.runMany(inputs, { journal, batch: "summaries" })) {
 *   await upsert(key, output);
 * }
 */
export function postgresJournal(options: PostgresJournalOptions): PostgresJournal {
  const { pool = null, leaseMs = DEFAULT_LEASE_MS } = options ?? {};
  checkCallOptions<object>(
    { ...options, pool, leaseMs },
    {
      pool: optionCheck((value) => hasMethod(value, "query"), "must be a Pool of the package pg"),
      leaseMs: msFrom(SHORTEST_LEASE_MS),
    } as Record<string, ReturnType<typeof optionCheck>>,
    "the journal",
  );
  const given = pool as PostgresPool;
  hidePassword(given);
  keepRunning(given);
  return {
    async migrate() {
      const [found] = await run(given, "SELECT to_regclass('serverless_gpu.keys') AS name");
      if (found?.name) return;
      // Use one transaction, because two processes that create a table at the same time would
      // interfere with each other.
      await run(given, `SELECT pg_advisory_xact_lock(${LOCK});\n${POSTGRES_SCHEMA}`);
    },
    async forget(batch) {
      const name = `batch ${JSON.stringify(batch)}`;
      const [found] = await run(given, COUNT_OPEN, [batch]);
      if (!found) throw new JournalRefusedError(`the database has no ${name}`);
      if (Number(found.open) > 0) {
        throw new JournalRefusedError(
          `${found.open} inputs of ${name} have no final result, so it was not deleted. Run the batch to its end first`,
        );
      }
      await run(given, FORGET, [found.id]);
    },
    open: (batch) => openBatch(given, batch, leaseMs),
  };
}

/** The pools that already have the listener. */
const listened = new WeakSet<PostgresPool>();

/**
 * Prevents the process from ending when an idle connection is lost, which would happen without a
 * listener.
 */
function keepRunning(pool: PostgresPool): void {
  if (listened.has(pool)) return;
  listened.add(pool);
  pool.on?.("error", () => {});
}

/** Keeps a pool's password out of all messages. */
function hidePassword(pool: PostgresPool): void {
  const options = "options" in pool ? (pool.options as { password?: unknown; connectionString?: unknown }) : undefined;
  if (typeof options?.password === "string") new SecretText(options.password);
  if (typeof options?.connectionString === "string") hideUrlPassword(options.connectionString);
}

/** Keeps the password in a database URL out of all messages. */
export function hideUrlPassword(text: string): void {
  if (!URL.canParse(text)) return;
  const { password, searchParams } = new URL(text);
  for (const secret of [password, searchParams.get("password") ?? ""]) {
    if (secret === "") continue;
    new SecretText(secret);
    try {
      new SecretText(decodeURIComponent(secret));
    } catch {
      // The password is not percent-encoded.
    }
  }
}

async function openBatch(pool: PostgresPool, batch: JournalBatch, leaseMs: number): Promise<OpenJournal> {
  await run(pool, ADD_BATCH, [batch.batch, batch.endpointId, batch.keyVersion]);
  const [row] = await run(pool, READ_BATCH, [batch.batch]);
  if (!row) throw new JournalUnavailableError(`batch ${JSON.stringify(batch.batch)} was deleted from the database`);
  const name = `batch ${JSON.stringify(batch.batch)} in the database`;
  if (row.format !== POSTGRES_FORMAT) {
    throw new JournalRefusedError(
      `${name} has the format ${row.format}, and this version of the package reads only format ${POSTGRES_FORMAT}. Run it with ` +
        "the version of the package that created it",
    );
  }
  const found = { batch: batch.batch, endpointId: String(row.endpoint_id), keyVersion: String(row.key_version) };
  requireSameBatch(name, found, batch);
  const { id } = row;

  async function collect(owner: string, keys: readonly string[]): Promise<JournalEntry[]> {
    if (keys.length === 0) return [];
    return (await run(pool, COLLECT, [id, keys, owner])).map(entryOf);
  }

  return {
    leaseMs,
    async claim(owner, keys, again) {
      const sorted = [...keys].sort((a, b) => (a.key < b.key ? -1 : 1));
      const names = sorted.map(({ key }) => key);
      const hashes = sorted.map(({ hash = null }) => hash);
      const rows = await run(pool, CLAIM, [owner, leaseMs, id, names, hashes, again]);
      if (rows.length === 0) return undefined;
      const claimed = rows.filter((each) => each.key !== null).map(entryOf);
      const mine = new Set(claimed.map(({ key }) => key));
      const rest = names.filter((key) => !mine.has(key));
      return [...claimed, ...(await collect(owner, rest))];
    },
    collect,
    async record(owner, changes, ends = false) {
      const fields = ["key", "state", "owner", "jobId", "submittedAt", "reason", "result"] as const;
      const columns = fields.map((field) => changes.map((change) => change[field] ?? null));
      const rows = await run(pool, RECORD, [owner, ends ? 0 : leaseMs, id, ...columns]);
      return rows.length > 0;
    },
    async result(key) {
      const [found] = await run(pool, READ_RESULT, [id, key]);
      return found && String(found.result);
    },
    async close() {},
  };
}

type Row = Readonly<Record<string, unknown>>;

function entryOf(row: Row): JournalEntry {
  return {
    key: String(row.key),
    hash: row.hash === null ? undefined : String(row.hash),
    state: row.state as JournalState,
    owner: String(row.owner),
    jobId: row.job_id === null ? undefined : String(row.job_id),
    submittedAt: row.submitted_at === null ? undefined : Number(row.submitted_at),
    reason: row.reason === null ? undefined : String(row.reason),
    isStored: row.is_stored === true,
  };
}

/** The first characters of the PostgreSQL error codes that a repetition doesn't fix. */
const LASTING = ["42", "28", "3D", "22", "0A"];

const MISSING_TABLE = ["42P01", "3F000"];

async function run(pool: PostgresPool, text: string, values?: unknown[]): Promise<readonly Row[]> {
  try {
    return (await pool.query({ text, ...(values && { values }), query_timeout: STATEMENT_MS })).rows as readonly Row[];
  } catch (cause) {
    if (cause instanceof ServerlessGpuError) throw cause;
    throw unavailable(cause);
  }
}

function unavailable(cause: unknown): JournalUnavailableError {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
  const why = messageOf(cause);
  if (MISSING_TABLE.includes(code)) {
    const next = "Call migrate() of the journal once, or run the statements in POSTGRES_SCHEMA";
    return new JournalUnavailableError(`the database has no tables for the journal: ${why}. ${next}`, {
      cause,
    }).stopping();
  }
  const error = new JournalUnavailableError(`the database of the journal failed: ${why}`, { cause });
  return LASTING.some((start) => code.length === 5 && code.startsWith(start)) ? error.stopping() : error;
}

/** If several connections fail, Node's error has no message of its own. */
function messageOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause.message !== "") return cause.message;
  return "code" in cause ? String(cause.code) : cause.name;
}
